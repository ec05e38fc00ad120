import { it } from "vitest";
import { gl200Case } from "../../../test/support/gl200-corpus.ts";
import { fuzzForAMinute } from "../../../test/support/stream-behaviour.ts";

it(
  "the gl200 codec reads random and damaged input for a minute without throwing or keeping memory",
  () => fuzzForAMinute(gl200Case),
  600_000,
);

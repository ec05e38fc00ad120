import { it } from "vitest";
import { gl200Case } from "../../../test/support/gl200-corpus.ts";
import { expectSameInPieces, fuzzForAMinute } from "../../../test/support/stream-behaviour.ts";

it(
  "the gl200 codec reads random and damaged input for a minute without throwing or keeping memory",
  () => fuzzForAMinute(gl200Case),
  600_000,
);

it("the gl200 codec takes damaged and random input the same in one piece and in many", () =>
  expectSameInPieces(gl200Case, 200));

import { it } from "vitest";
import { minifinder2Case } from "../../../test/support/minifinder2-corpus.ts";
import { expectSameInPieces, fuzzForAMinute } from "../../../test/support/stream-behaviour.ts";

it(
  "the minifinder2 codec reads random and damaged input for a minute without throwing or keeping memory",
  () => fuzzForAMinute(minifinder2Case),
  600_000,
);

it("the minifinder2 codec takes damaged and random input the same in one piece and in many", () =>
  expectSameInPieces(minifinder2Case, 200));

import { it } from "vitest";
import { minifinder2Case } from "../../../test/support/minifinder2-corpus.ts";
import { expectSameInPieces, fuzzAtLength } from "../../../test/support/stream-behaviour.ts";

it(
  "the minifinder2 codec reads random and damaged input at length without throwing or keeping memory",
  () => fuzzAtLength(minifinder2Case),
  600_000,
);

it("the minifinder2 codec takes damaged and random input the same in one piece and in many", () =>
  expectSameInPieces(minifinder2Case, 200));

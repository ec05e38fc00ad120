import { it } from "vitest";
import { gl200Case } from "../../../test/support/gl200-corpus.ts";
import { expectSameInPieces, fuzzAtLength } from "../../../test/support/stream-behaviour.ts";

it(
  "the gl200 codec reads random and damaged input at length without throwing or keeping memory",
  () => fuzzAtLength(gl200Case),
  600_000,
);

it("the gl200 codec takes damaged and random input the same in one piece and in many", () =>
  expectSameInPieces(gl200Case, 200));

import { it } from "vitest";
import { osmandCase } from "../../../test/support/osmand-corpus.ts";
import { expectSameInPieces, fuzzAtLength } from "../../../test/support/stream-behaviour.ts";

it(
  "the osmand codec reads random and damaged input at length without throwing or keeping memory",
  () => fuzzAtLength(osmandCase),
  600_000,
);

it("the osmand codec takes damaged and random input the same in one piece and in many", () =>
  expectSameInPieces(osmandCase, 200));

import { expect, it } from "vitest";
import { fuzz, seededRandom } from "../../../test/support/codec-harness.ts";
import { jt808Corpus, jt808World } from "../../../test/support/jt808-corpus.ts";

const seconds = Number(process.env.VIGIL_FUZZ_SECONDS ?? 20);

it("the jt808 codec takes hostile input at length without a fault and without growing", {
  timeout: 120_000 + seconds * 2000,
}, () => {
  const heapBefore = process.memoryUsage().heapUsed;
  const endMs = performance.now() + seconds * 1000;
  fuzz(jt808World, jt808Corpus, seededRandom(Date.now()), () => performance.now() > endMs);
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(256 * 1024 * 1024);
});

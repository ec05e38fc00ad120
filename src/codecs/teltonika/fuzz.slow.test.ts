import { expect, it } from "vitest";
import { fuzz, seededRandom } from "../../../test/support/codec-harness.ts";
import { teltonikaCorpus, teltonikaWorld } from "../../../test/support/teltonika-corpus.ts";

const seconds = Number(process.env.VIGIL_FUZZ_SECONDS ?? 20);

it("the teltonika codec takes hostile input at length without a fault and without growing", {
  timeout: 120_000 + seconds * 2000,
}, () => {
  const heapBefore = process.memoryUsage().heapUsed;
  const endMs = performance.now() + seconds * 1000;
  fuzz(teltonikaWorld, teltonikaCorpus, seededRandom(Date.now()), () => performance.now() > endMs);
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(256 * 1024 * 1024);
});

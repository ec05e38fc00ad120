import { expect, it } from "vitest";
import { makeEcg } from "./ecg.ts";

const at = Date.parse("2026-03-02T11:00:00Z");

it("a simulated heart beats as often as the pulse says, within what a watch can send", () => {
  for (const pulse of [55, 72, 110]) {
    const { samples, samplingRateHz } = makeEcg(7, pulse, at);
    expect(samples).toHaveLength(7500);
    expect(samples.every((sample) => Math.abs(sample) < 4000)).toBe(true);
    const top = Math.max(...samples) / 2;
    const beats = samples.filter((sample, index) => sample >= top && (samples[index - 1] ?? 0) < top).length;
    expect(Math.abs(beats - (pulse * samples.length) / samplingRateHz / 60)).toBeLessThan(4);
  }
});

it("a simulated heart is the same for the same heart and time, and another for others", () => {
  expect(makeEcg(7, 72, at, 2)).toEqual(makeEcg(7, 72, at, 2));
  expect(makeEcg(8, 72, at, 2)).not.toEqual(makeEcg(7, 72, at, 2));
  expect(makeEcg(7, 72, at + 1000, 2).samples).not.toEqual(makeEcg(7, 72, at, 2).samples);
});

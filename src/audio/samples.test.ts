import { describe, expect, it } from "vitest";
import { raiseLevel, resample, toMono } from "./samples.ts";

const tone = (hertz: number, rate: number, seconds = 0.5): Float32Array =>
  Float32Array.from({ length: rate * seconds }, (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate));
const middle = (samples: Float32Array): Float32Array => samples.subarray(samples.length / 4, (samples.length * 3) / 4);
const peak = (samples: Float32Array): number => samples.reduce((max, value) => Math.max(max, Math.abs(value)), 0);

describe("sound", () => {
  it.each([11_025, 16_000, 44_100, 48_000])("keeps its tone from %i Hz to 8 kHz", (rate) => {
    const resampled = resample({ samples: tone(1000, rate), rate }, 8000);
    expect(Math.abs(resampled.length - 4000)).toBeLessThanOrEqual(1);
    const wanted = tone(1000, 8000);
    const worst = peak(middle(resampled.map((value, at) => value - (wanted[at] as number))));
    expect(worst).toBeLessThan(0.02);
  });

  it("loses what 8 kHz cannot carry instead of folding it", () => {
    expect(peak(middle(resample({ samples: tone(6000, 48_000), rate: 48_000 }, 8000)))).toBeLessThan(0.01);
  });

  it("is the mean of its channels", () => {
    expect([...toMono([Float32Array.of(1, 0), Float32Array.of(0, 0.5)])]).toEqual([0.5, 0.25]);
  });

  it("is raised to be heard, and silence is not", () => {
    expect(peak(raiseLevel(Float32Array.of(0.2, -0.3)))).toBeCloseTo(0.89);
    expect(peak(raiseLevel(Float32Array.of(0.02)))).toBeCloseTo(0.16);
    expect(peak(raiseLevel(Float32Array.of(0.005)))).toBeCloseTo(0.005);
  });
});

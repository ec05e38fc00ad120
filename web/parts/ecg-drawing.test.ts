import { describe, expect, it } from "vitest";
import { halfHeightMm, leadsOf, measure, pathOf, widthMm } from "./ecg-drawing.ts";

describe("the paper of an ECG", () => {
  it("is 25 mm wide for a second", () => {
    expect(widthMm(7500, 250)).toBe(750);
  });

  it("is high enough for the lead, in squares of 5 mm", () => {
    expect(halfHeightMm([0.1, -0.2, null])).toBe(10);
    expect(halfHeightMm([0, 1.42])).toBe(20);
    expect(halfHeightMm([50])).toBe(40);
  });
});

describe("the curve", () => {
  it("is 10 mm high for a millivolt, by the scale of the recording", () => {
    const [lead] = leadsOf({ sampling_rate_hz: 250, scale: 2.5, offset: 0, leads: [{ name: "I", samples: [0, 400] }] });
    expect(lead).toEqual({ name: "I", millivolts: [0, 1] });
    expect(pathOf([0, 1], 250, 10)).toBe("M0.00 10.00L0.10 0.00");
  });

  it("is interrupted where samples are missing", () => {
    expect(pathOf([0, null, null, 0, 0], 25, 10)).toBe("M0.00 10.00M3.00 10.00L4.00 10.00");
    expect(pathOf([null], 25, 10)).toBe("");
  });
});

describe("calipers", () => {
  const lead = [0, 0.1, 1, 0.1, 0];
  it("measure time, rate and amplitude, whichever stands first", () => {
    const measured = measure([1.2, 0.4], [...Array(100).fill(0), ...Array(200).fill(0.5)], 250);
    expect(measured).toEqual({ milliseconds: 800, perMinute: 75, millivolts: 0 });
    expect(measure([0, 0.008], lead, 250)).toEqual({ milliseconds: 8, perMinute: 7500, millivolts: 1 });
  });

  it("say nothing of a rate on one place, nor of an amplitude in a gap", () => {
    expect(measure([1, 1], [null], 250)).toEqual({ milliseconds: 0, perMinute: undefined, millivolts: undefined });
  });
});

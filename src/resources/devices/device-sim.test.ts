import { expect, test } from "vitest";
import { isOtherSim, lastSimOf, pinnedSimOf } from "./device-sim.ts";

const sim = (iccid: string | null, imsi: string | null = null) => ({ iccid, imsi });

test.each([
  ["another card", sim("89390123456789012341"), sim("89390999999999999991"), true],
  ["the same card without its check digit", sim("89390123456789012341"), sim("8939012345678901234"), false],
  ["the same card filled up with a letter", sim("8939012345678901234F"), sim("8939012345678901234"), false],
  ["another IMSI of the same card", sim("8939012345678901234", "1"), sim("8939012345678901234", "2"), false],
  ["another IMSI where no card is known", sim(null, "222010000000001"), sim(null, "222010000000002"), true],
  ["nothing known", sim(null), sim("8939012345678901234", "222010000000001"), false],
  ["nothing told", sim("8939012345678901234"), sim(null), false],
  ["a short number that only begins alike", sim("8939"), sim("8939012345678901234"), true],
])("the SIM check compares SIMs: %s", (_, known, told, isOther) => {
  expect(isOtherSim(known, told)).toBe(isOther);
});

test("the SIM check pins the registered card, and notices a change against the one last reported", () => {
  const row = { iccid: "1", sim_iccid: "2", sim_imsi: "3" };
  expect(pinnedSimOf(row)).toEqual(sim("1", "3"));
  expect(lastSimOf(row)).toEqual(sim("2", "3"));
  expect(lastSimOf({ iccid: "1", sim_iccid: null, sim_imsi: null })).toEqual(sim("1"));
});

import { expect, it } from "vitest";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { minifinder2Case } from "../../../test/support/minifinder2-corpus.ts";
import { UnsupportedDownlink } from "../protocol-definition.ts";
import { encodeDownlink, serialOf } from "./downlink.ts";

const payloadOf = (type: string, params: object, version: 0 | 1): string => {
  const session = loggedIn(minifinder2Case.world);
  const device = { ...minifinder2Case.world.device, traits: { protocol_version: version } };
  const downlink = { kind: "command", type, params: { ...params }, serial: "18" } as const;
  const [frame] = encodeDownlink(downlink, { ...session, device });
  expect(frame?.subarray(0, 2)).toEqual(Buffer.from([0xab, 0x10 | version]));
  expect(frame?.readUInt16LE(6)).toBe(18);
  return frame?.subarray(8).toString("hex") ?? "";
};
const textOf = (key: string, text: string): string =>
  `04${(text.length + 1).toString(16).padStart(2, "0")}${key}${Buffer.from(text).toString("hex")}`;

it.each([
  ["set_timezone", { utc_offset_minutes: 345 }, 0, "02020e17"],
  ["set_timezone", { utc_offset_minutes: -180 }, 0, "02020ef4"],
  ["set_timezone", { timezone: "Europe/Rome" }, 1, "02023404"],
  ["restart", {}, 1, textOf("22", "safe")],
  ["power_off", {}, 1, textOf("21", "normal")],
  ["factory_reset", {}, 1, textOf("20", "recovery")],
  ["find_device", {}, 1, "04021001"],
] as const)("the minifinder2 codec writes %s %j for version %i", (type, params, version, payload) =>
  expect(payloadOf(type, params, version)).toBe(payload),
);

it("the minifinder2 codec tells a pendant nothing but its time zone", () => {
  for (const type of ["restart", "power_off", "factory_reset", "find_device", "locate_now"]) {
    expect(() => payloadOf(type, {}, 0)).toThrow(UnsupportedDownlink);
  }
  expect(() => payloadOf("set_timezone", { timezone: "Mars/Olympus" }, 1)).toThrow(UnsupportedDownlink);
});

it("the minifinder2 codec leaves the numbers from D000 on to the device", () => {
  const serials = [0, 17, 0xcffd, 0xcffe, 1e9].map(serialOf).map(Number);
  expect(serials.slice(0, 4)).toEqual([1, 18, 0xcffe, 1]);
  expect(serials.every((serial) => serial >= 1 && serial < 0xd000)).toBe(true);
});

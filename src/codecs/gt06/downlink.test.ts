import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { gt06World } from "../../../test/support/gt06-corpus.ts";
import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";
import { gt06 } from "./protocol.ts";

const command = (type: string, params: Record<string, unknown> = {}, serial = "258"): Downlink => ({
  kind: "command",
  type,
  params,
  serial,
});
const encode = (downlink: Downlink): Buffer[] => gt06.encode(downlink, loggedIn(gt06World));
/** The text of the one frame. */
const textOf = ([frame]: Buffer[]): string => frame?.toString("latin1", 9, frame.length - 8) ?? "";

describe("commands", () => {
  it("writes length, flag, text, language, serial and checksum", () =>
    expect(encode(command("locate_now"))[0]?.toString("hex")).toBe(
      `787812800a00000102${Buffer.from("WHERE#").toString("hex")}00020102a64f0d0a`,
    ));

  it.each([
    ["locate_now", {}, "WHERE#"],
    ["restart", {}, "RESET#"],
    ["factory_reset", {}, "FACTORY#"],
    ["set_report_interval", { interval_seconds: 300 }, "TIMER,300,300#"],
    ["set_working_mode", { mode: "normal" }, "TIMER,600,600#"],
    ["set_working_mode", { mode: "power_saving" }, "TIMER,3600,3600#"],
    ["set_working_mode", { mode: "emergency" }, "TIMER,60,60#"],
    ["set_working_mode", { mode: "custom", interval_seconds: 45 }, "TIMER,45,45#"],
    ["set_timezone", { utc_offset_minutes: 330 }, "GMT,E,5,30#"],
    ["set_timezone", { utc_offset_minutes: -300 }, "GMT,W,5,0#"],
    ["set_timezone", { timezone: "Europe/Rome" }, "GMT,E,1,0#"],
  ])("writes %s %j as %s", (type, params, text) => expect(textOf(encode(command(type, params)))).toBe(text));

  it.each([
    ["power_off", {}],
    ["toString", {}],
    ["set_report_interval", {}],
    ["set_working_mode", { mode: "other" }],
    ["set_timezone", { timezone: "No/Where" }],
  ])("refuses %s %j", (type, params) => expect(() => encode(command(type, params))).toThrow(UnsupportedDownlink));

  it("has no messages, and tells the time only when asked", () => {
    expect(() => encode({ kind: "text", text: "Hi", senderName: "", serial: "1" })).toThrow(UnsupportedDownlink);
    expect(encode({ kind: "clock" })).toEqual([]);
  });

  it("has a flag above zero for every command", () => {
    expect(gt06.serialOf(0)).toBe("1");
    expect(gt06.serialOf(0x7fff_ffff)).toBe("1");
    expect(Number(gt06.serialOf(123_456_789_012))).toBeLessThan(2 ** 32);
  });

  it("can write every command that the catalog gives its models", () => {
    const params = { mode: "normal", interval_seconds: 60, utc_offset_minutes: 60 };
    for (const model of ["gt06-generic", "gt06-r11"]) {
      for (const capability of testCatalog().capabilitiesOf(model)) {
        if (capability.kind !== "command" || !capability.supported) continue;
        expect(encode(command(capability.code, params))).toHaveLength(1);
      }
    }
  });
});

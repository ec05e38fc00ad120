import { describe, expect, it } from "vitest";
import { decode } from "../../../test/support/codec-harness.ts";
import { iwDevice, NOW_MS } from "../../../test/support/iw-world.ts";
import catalog from "../../resources/catalog/data/iw.json" with { type: "json" };
import { type Downlink, type ProtocolDefinition, type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import type { Dialect } from "./fields.ts";
import { iw } from "./protocol.ts";

const codec: ProtocolDefinition = iw;

function session(dialect: Dialect, utcOffsetMinutes = 120, traits: Record<string, unknown> = {}): Session {
  const device = iwDevice(dialect, { utcOffsetMinutes });
  return { nowMs: NOW_MS, device: { ...device, traits: { ...device.traits, ...traits } }, memory: new Map() };
}

const frames = (downlink: Downlink, to: Session): string[] =>
  codec.encode(downlink, to).map((frame) => frame.toString("latin1"));
const command = (type: string, params: Record<string, unknown> = {}): Downlink => ({
  kind: "command",
  type,
  params,
  serial: "081530",
});

type Row = [type: string, params: Record<string, unknown>, dialects: string, frames: string[]];
const to = (code: string, args = ""): string => `IWBP${code},359000000000017,081530${args}#`;

const COMMANDS: Row[] = [
  ["locate_now", {}, "ABC", [to("16")]],
  ["restart", {}, "ABC", [to("18")]],
  ["power_off", {}, "ABC", [to("31")]],
  ["factory_reset", {}, "ABC", [to("17")]],
  ["find_device", {}, "B", [to("88")]],
  ["send_message", { text: "Ciao è" }, "A", [to("40", ",004300690061006f002000e8")]],
  ["send_message", { text: "Ciao è", sender_name: "Anna" }, "B", [to("40", ",4369616F20A8A8")]],
  ["send_message", { text: "Ciao", sender_name: "Jo" }, "C", ["IWBP28,004A006F,081530,0,0,16,004300690061006f#"]],
  ["set_working_mode", { mode: "normal" }, "ABC", [to("33", ",1")]],
  ["set_working_mode", { mode: "power_saving" }, "ABC", [to("33", ",2")]],
  ["set_working_mode", { mode: "emergency" }, "ABC", [to("33", ",3")]],
  ["set_working_mode", { mode: "custom", interval_seconds: 300 }, "ABC", [to("34", ",8,300,1")]],
  ["set_working_mode", { mode: "custom", interval_seconds: 30, gps_enabled: false }, "ABC", [to("34", ",8,30,0")]],
  ["set_timezone", { utc_offset_minutes: 120 }, "AC", [to("20", ",0,2")]],
  ["set_timezone", { utc_offset_minutes: -210 }, "A", [to("20", ",0,-3.5")]],
  ["set_timezone", { utc_offset_minutes: 345 }, "B", [to("20", ",1,5.75")]],
  ["set_timezone", { utc_offset_minutes: 0 }, "B", [to("20", ",1,0")]],
  ["set_timezone", { timezone: "Europe/Rome" }, "A", [to("20", ",0,2")]],
  ["set_timezone", { timezone: "Asia/Kolkata" }, "B", [to("20", ",1,5.5")]],
  ["test_heart_rate", {}, "AB", [to("XL")]],
  ["test_blood_pressure", {}, "AB", [to("XY")]],
  ["test_temperature", {}, "A", [to("XT")]],
  ["test_temperature", {}, "B", [to("TE", ",1")]],
  ["test_blood_oxygen", {}, "A", [to("XZ")]],
  ["test_blood_oxygen", {}, "B", [to("OX", ",1")]],
  ["calibrate_bp", { sbp: 121, dbp: 79 }, "A", [to("JZ", ",121,79")]],
  ["calibrate_bp", { sbp: 121, dbp: 79, age: 81, gender: "male" }, "A", [to("JZ", ",121,79,81,1")]],
  ["calibrate_bp", { sbp: 121, dbp: 79, age: 81, gender: "female" }, "A", [to("JZ", ",121,79,81,0")]],
  ["set_report_interval", { interval_seconds: 600 }, "ABC", [to("15", ",600")]],
  ["set_sos_numbers", { numbers: [] }, "ABC", [to("12", ",,,")]],
  ["set_sos_numbers", { numbers: ["+390000001", "112"] }, "ABC", [to("12", ",+390000001,112,")]],
  ["set_contacts", { contacts: [] }, "ABC", [to("14", ",,,,,,,,,,")]],
  [
    "set_contacts",
    {
      contacts: [
        { name: "Jo", phone: "+390000001" },
        { name: "", phone: "112" },
      ],
    },
    "ABC",
    [to("14", ",004A006F|+390000001,|112,,,,,,,,")],
  ],
  ["set_fall_detection", { enabled: true }, "AB", [to("76", ",1"), to("77", ",2")]],
  ["set_fall_detection", { enabled: true, sensitivity: 3 }, "AB", [to("76", ",1"), to("77", ",3")]],
  ["set_fall_detection", { enabled: false, sensitivity: 3 }, "AB", [to("76", ",0")]],
  ["set_heart_rate_interval", { enabled: true, interval_minutes: 30 }, "AB", [to("86", ",1,30")]],
  ["set_heart_rate_interval", { enabled: false }, "AB", [to("86", ",0,0")]],
  ["set_temperature_interval", { enabled: true, interval_minutes: 60 }, "AB", [to("87", ",1,60")]],
  ["set_temperature_interval", { enabled: false, interval_minutes: 60 }, "AB", [to("87", ",0,0")]],
];

describe("IW commands", () => {
  it.each(COMMANDS)("%s %j to dialects %s", (type, params, dialects, expected) => {
    for (const dialect of dialects) {
      expect(frames(command(type, params), session(dialect as Dialect))).toEqual(expected);
    }
  });

  it.each([
    ["find_device", "AC"],
    ["calibrate_bp", "BC"],
    ["test_heart_rate", "C"],
    ["test_blood_pressure", "C"],
    ["test_temperature", "C"],
    ["test_blood_oxygen", "C"],
    ["set_fall_detection", "C"],
    ["set_heart_rate_interval", "C"],
    ["set_temperature_interval", "C"],
    ["open_door", "ABC"],
  ])("has no %s in dialects %s", (type, dialects) => {
    for (const dialect of dialects) {
      expect(() => frames(command(type), session(dialect as Dialect))).toThrow(UnsupportedDownlink);
    }
  });

  it.each([
    ["set_sos_numbers", { numbers: ["1,2"] }],
    ["set_sos_numbers", { numbers: ["1#"] }],
    ["set_contacts", { contacts: [{ name: "Jo", phone: "1\r\n" }] }],
    ["set_timezone", { timezone: "Mars/Base" }],
    ["set_timezone", {}],
    ["set_working_mode", { mode: "turbo" }],
    ["set_report_interval", { interval_seconds: "600" }],
  ])("refuses to write %s %j", (type, params) => {
    expect(() => frames(command(type, params), session("A"))).toThrow(UnsupportedDownlink);
  });

  it.each(catalog.models.map(({ slug, traits, commands }) => ({ slug, traits, commands })))(
    "has every command that the catalog promises for $slug, and no other",
    ({ traits, commands }) => {
      const target = session(traits.dialect as Dialect, 0, traits);
      const isSupported = (type: string): boolean => {
        const params = COMMANDS.find((row) => row[0] === type)?.[1] ?? {};
        try {
          return frames(command(type, params), target).length > 0;
        } catch (error) {
          expect(error).toBeInstanceOf(UnsupportedDownlink);
          return false;
        }
      };
      const types = [...new Set(COMMANDS.map(([type]) => type))];
      expect(types.filter(isSupported).sort()).toEqual([...commands].sort());
    },
  );

  it.each<[string, Record<string, unknown>, unknown[]]>([
    ["locate_now", {}, [{ word: "AP16" }]],
    ["test_heart_rate", {}, [{ word: "APXL" }]],
    ["set_working_mode", { mode: "power_saving" }, [{ word: "AP33", echo: "2" }]],
    ["set_working_mode", { mode: "custom", interval_seconds: 60 }, [{ word: "AP34" }]],
    ["set_fall_detection", { enabled: true }, [{ word: "AP76" }, { word: "AP77" }]],
    ["send_message", { text: "Ciao" }, [{ word: "AP40" }]],
  ])("awaits for %s %j the answers %j", (type, params, answers) => {
    expect(codec.encode(command(type, params), session("A")).map((frame) => codec.answerTo?.(frame))).toEqual(answers);
  });

  it("writes an odd zone with two decimals", () => {
    const odd = command("set_timezone", { utc_offset_minutes: 100 });
    expect(frames(odd, session("A"))).toEqual([to("20", ",0,1.67")]);
  });

  it("sends nothing before a login", () => {
    const before: Session = { nowMs: NOW_MS, device: undefined, memory: new Map() };
    expect(() => frames(command("locate_now"), before)).toThrow(UnsupportedDownlink);
  });

  it("writes names as the model wants them", () => {
    const little = session("A", 0, { name_encoding: "utf-16le" });
    const contacts = [{ name: "Jo", phone: "1" }];
    expect(frames(command("set_contacts", { contacts }), little)).toEqual([to("14", ",4A006F00|1,,,,,,,,,")]);
  });
});

describe("IW texts, voice and clock", () => {
  it("sends texts like the command does", () => {
    const text: Downlink = { kind: "text", text: "Ciao", senderName: "Jo", serial: "081530" };
    expect(frames(text, session("A"))).toEqual([to("40", ",004300690061006f")]);
    expect(frames(text, session("B"))).toEqual([to("40", ",4369616F")]);
    expect(frames(text, session("C"))).toEqual(["IWBP28,004A006F,081530,0,0,16,004300690061006f#"]);
  });

  it("sends voice in raw bytes", () => {
    const bytes = Buffer.from("#!AMR\n\x04#\xff", "latin1");
    const part: Downlink = { kind: "voice_part", senderName: "Jo", serial: "081530", total: 3, sequence: 1, bytes };
    expect(frames(part, session("A"))).toEqual(["IWBP28,004A006F,081530,3,1,9,#!AMR\n\x04#\xff#"]);
  });

  it.each([
    [120, "2"],
    [0, "0"],
    [-360, "-6"],
    [330, "5"],
    [-210, "-3"],
    [-30, "0"],
  ])("sets the clock with a zone of %i minutes as %s", (minutes, zone) => {
    expect(frames({ kind: "clock" }, session("A", minutes))).toEqual([`IWBP00,20260506070809,${zone}#`]);
  });

  it("answers a TRV unit in its own prefix", () => {
    const trv = session("A");
    decode(codec, Buffer.from("TRVAP00359000000000017#"), trv);
    expect(frames({ kind: "clock" }, trv)).toEqual(["TRVBP00#"]);
    expect(frames(command("locate_now"), trv)).toEqual(["TRVBP16,359000000000017,081530#"]);
  });
});

import { describe, expect, it } from "vitest";
import { decode, fresh, loggedIn } from "../../../test/support/codec-harness.ts";
import { frameOf, world } from "../../../test/support/watch-corpus.ts";
import catalog from "../../resources/catalog/data/watch.json" with { type: "json" };
import { type Downlink, type Session, UnsupportedDownlink } from "../protocol-definition.ts";
import { unescapeBytes } from "./envelope.ts";

const sent = (downlink: Downlink, session: Session = loggedIn(world)): string[] =>
  world.protocol.encode(downlink, session).map((frame) => frame.toString("latin1"));
const command = (type: string, params: Record<string, unknown> = {}): Downlink => ({
  kind: "command",
  type,
  params,
  serial: "123456",
});
const withDevice = (device: Partial<NonNullable<Session["device"]>>): Session => ({
  ...loggedIn(world),
  device: { ...world.device, ...device },
});
const contacts = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: String.fromCharCode(65 + at), phone: `+39060000${at}` }));

describe("commands", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["locate_now", {}, "0002*CR"],
    ["find_device", {}, "0004*FIND"],
    ["send_message", { text: "Ciao è 😀" }, "002C*MESSAGE,004300690061006f002000e80020d83dde00"],
    ["set_working_mode", { mode: "normal" }, "000A*UPLOAD,600"],
    ["set_working_mode", { mode: "power_saving" }, "000B*UPLOAD,3600"],
    ["set_working_mode", { mode: "emergency" }, "0009*UPLOAD,60"],
    ["set_working_mode", { mode: "custom", interval_seconds: 45, gps_enabled: true }, "0009*UPLOAD,45"],
    ["set_timezone", { utc_offset_minutes: 345 }, "000A*LZ,0,+5.75"],
    ["set_timezone", { utc_offset_minutes: -210 }, "0009*LZ,0,-3.5"],
    ["set_timezone", { utc_offset_minutes: 0 }, "0007*LZ,0,+0"],
    ["restart", {}, "0005*RESET"],
    ["power_off", {}, "0008*POWEROFF"],
    ["factory_reset", {}, "0007*FACTORY"],
    ["test_heart_rate", {}, "000A*hrtstart,1"],
    ["test_blood_pressure", {}, "000A*hrtstart,1"],
    ["test_temperature", {}, "0009*bodytemp2"],
    ["test_blood_oxygen", {}, "0006*oxygen"],
    ["set_report_interval", { interval_seconds: 86400 }, "000C*UPLOAD,86400"],
    ["set_sos_numbers", { numbers: ["+390600001", "112"] }, "0013*SOS,+390600001,112,"],
    ["set_sos_numbers", { numbers: [] }, "0006*SOS,,,"],
    ["set_contacts", { contacts: contacts(2) }, "0023*PHB,+390600000,0041,+390600001,0042"],
    ["set_contacts", { contacts: [] }, "0005*PHB,,"],
    ["set_fall_detection", { enabled: true }, "000C*FALLDOWN,1,2"],
    ["set_fall_detection", { enabled: true, sensitivity: 3 }, "000C*FALLDOWN,1,3"],
    ["set_fall_detection", { enabled: false }, "000C*FALLDOWN,0,2"],
    ["set_heart_rate_interval", { enabled: true, interval_minutes: 5 }, "000C*hrtstart,300"],
    ["set_heart_rate_interval", { enabled: false }, "000A*hrtstart,0"],
  ])("%s %j", (type, params, content) => expect(sent(command(type, params))).toEqual([`[3G*5550001234*${content}]`]));

  it("sends contacts beyond the fifth in a second frame", () =>
    expect(sent(command("set_contacts", { contacts: contacts(7) }))).toEqual([
      `[3G*5550001234*0053*PHB${contacts(5)
        .map(({ phone }, at) => `,${phone},004${at + 1}`)
        .join("")}]`,
      "[3G*5550001234*0024*PHB2,+390600005,0046,+390600006,0047]",
    ]));

  it("tells the language where its code is known", () => {
    const zone = command("set_timezone", { utc_offset_minutes: 120 });
    expect(sent(zone, withDevice({ locale: "de" }))).toEqual(["[3G*5550001234*0007*LZ,5,+2]"]);
    expect(sent(zone, withDevice({ locale: "es" }))).toEqual(["[3G*5550001234*0007*LZ,4,+2]"]);
    expect(sent(zone, withDevice({ locale: "en" }))).toEqual(["[3G*5550001234*0007*LZ,0,+2]"]);
  });

  it("sends a zone by name as its present offset, whatever the zone of the device", () => {
    const zone = (timezone: string, nowMs: number): string[] =>
      sent(command("set_timezone", { timezone }), { ...withDevice({ utcOffsetMinutes: 60 }), nowMs });
    expect(zone("Asia/Kathmandu", Date.UTC(2026, 0, 1))).toEqual(["[3G*5550001234*000A*LZ,0,+5.75]"]);
    expect(zone("Europe/Rome", Date.UTC(2026, 0, 1))).toEqual(["[3G*5550001234*0007*LZ,0,+1]"]);
    expect(zone("Europe/Rome", Date.UTC(2026, 6, 1))).toEqual(["[3G*5550001234*0007*LZ,0,+2]"]);
  });

  it("awaits the word of each frame, in upper case", () => {
    const words = (downlink: Downlink) =>
      world.protocol.encode(downlink, loggedIn(world)).map((frame) => world.protocol.answerTo?.(frame));
    expect(words(command("test_heart_rate"))).toEqual([{ word: "HRTSTART" }]);
    expect(words(command("set_contacts", { contacts: contacts(7) }))).toEqual([{ word: "PHB" }, { word: "PHB2" }]);
    expect(words(command("send_message", { text: "[x,]*" }))).toEqual([{ word: "MESSAGE" }]);
  });

  it("has a frame for every command of the catalog", () => {
    const params = {
      text: "x",
      mode: "normal",
      interval_seconds: 60,
      numbers: [],
      contacts: [],
      enabled: true,
      interval_minutes: 5,
      utc_offset_minutes: 60,
    };
    for (const type of catalog.models.flatMap((model) => model.commands))
      expect(sent(command(type, params))).toHaveLength(1);
  });

  it("refuses what watches do not know, and what lacks its parameters", () => {
    for (const downlink of [
      command("calibrate_bp", { sbp: 120, dbp: 80 }),
      command("toString"),
      command("set_working_mode", { mode: "other" }),
      command("set_working_mode", { mode: "custom" }),
      command("set_contacts"),
      command("set_timezone"),
      command("set_timezone", { timezone: "Mars/Base" }),
      command("send_message"),
    ])
      expect(() => sent(downlink)).toThrow(UnsupportedDownlink);
    expect(() => sent(command("locate_now"), fresh(world))).toThrow(UnsupportedDownlink);
  });
});

describe("texts and recordings", () => {
  it("sends a text", () =>
    expect(sent({ kind: "text", text: "Ok", senderName: "Care desk", serial: "1" })).toEqual([
      "[3G*5550001234*0010*MESSAGE,004f006b]",
    ]));

  const voice = (bytes: Buffer, total = 1): Downlink => ({
    kind: "voice_part",
    senderName: "Care desk",
    serial: "1",
    total,
    sequence: 1,
    bytes,
  });

  it("sends a recording in one frame, its length that of the bytes sent", () => {
    expect(sent(voice(Buffer.from("#!AMR\n[,]\xff", "latin1")))).toEqual([
      "[3G*5550001234*0010*TK,#!AMR\n}\x02}\x04}\x03\xff]",
    ]);
    const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const frame = world.protocol.encode(voice(every), loggedIn(world))[0] as Buffer;
    expect(unescapeBytes(frame.subarray("[3G*5550001234*0108*TK,".length, -1))).toEqual(every);
  });

  it("refuses a recording in parts, and one that does not fit", () => {
    expect(() => sent(voice(Buffer.alloc(10), 2))).toThrow(UnsupportedDownlink);
    expect(sent(voice(Buffer.alloc(0xffff - 3, 1)))).toHaveLength(1);
    expect(() => sent(voice(Buffer.alloc(0xffff - 2, 1)))).toThrow(UnsupportedDownlink);
  });

  it("has no way to set the clock", () => expect(sent({ kind: "clock" })).toEqual([]));
});

describe("the envelope of a downlink", () => {
  it("has the maker and the kind of header the device uses", () => {
    const session = loggedIn(world);
    decode(world.protocol, frameOf("LK", "[ZJ*5550001234*0034*"), session);
    expect(sent(command("locate_now"), session)).toEqual(["[ZJ*5550001234*0001*0002*CR]"]);
  });

  it("has the id the device uses, short or long", () =>
    expect(sent(command("locate_now"), withDevice({ id: "490155500012348" }))).toEqual([
      "[3G*490155500012348*0002*CR]",
    ]));
});

import type {
  AlarmKind,
  Command,
  DeviceProtocol,
  Effect,
  Identity,
  Measurement,
  Packet,
  ServerMessage,
  Snapshot,
} from "./device-protocol.ts";
import { Bytes } from "./little-endian.ts";
import { commands, firstFrame, writeFrame, writeItem } from "./minifinder2-frame.ts";

/** 0 is a pendant (EV-07B), 1 a watch (EV-W101), which numbers its items differently and measures more. */
export type EviewVersion = 0 | 1;

export function makeMinifinder2Device(version: EviewVersion): DeviceProtocol {
  let sequence = version === 1 ? 0xd000 : 0;
  const packet = (self: Identity, command: number, ...items: Buffer[]): Packet => {
    sequence = version === 1 && sequence >= 0xffff ? 0xd000 : (sequence + 1) & 0xffff;
    const id = writeItem(0x01, Buffer.from(self.id));
    const payload = Buffer.concat([Buffer.from([command]), id, ...items]);
    return { bytes: writeFrame(payload, sequence, version, true), answer: String(sequence) };
  };
  const alive = (self: Identity): Packet => packet(self, commands.services, writeItem(0x10, Buffer.from([0x5a])));
  const place = version === 1 ? watchPlace : pendantPlace;
  return {
    login: alive,
    heartbeat: alive,
    location: (self, now, isStored) => packet(self, commands.data, ...place(now, isStored)),
    alarm: (self, now, alarm) =>
      packet(self, commands.data, ...place(now, false), (version === 1 ? watchAlarm : pendantAlarm)(now, alarm)),
    readings: (self, now, what) => {
      const items = (version === 1 ? watchReadings : pendantReadings)(now, what);
      return items.length === 0 ? [] : [packet(self, commands.data, ...items)];
    },
    voice: () => [],
    ecg: () => [],
    read: (_, bytes) => read(bytes, version),
  };
}

const seconds = (timeMs: number): number => Math.floor(timeMs / 1000);
const signalOf = ({ seen }: Snapshot): number => Math.round((seen.gsmPercent * 31) / 100);
const bytesOf = (mac: string): Buffer => Buffer.from(mac.replaceAll(":", ""), "hex");

function pendantPlace(now: Snapshot, isStored: boolean): Buffer[] {
  const { seen, life, atMs } = now;
  const { gps, mcc, mnc } = seen;
  const flags = (life.isCharging ? 1 << 4 : 0) | (isStored ? 1 << 7 : 0) | (life.speedKmh > 0 ? 1 << 9 : 0);
  const status = (flags | (signalOf(now) << 19) | (life.battery << 24)) >>> 0;
  const items = [writeItem(0x24, new Bytes().u32(seconds(atMs)).u32(status).done())];
  if (gps) {
    const fix = new Bytes().i32(Math.round(gps.lat * 1e7)).i32(Math.round(gps.lng * 1e7));
    fix.u16(Math.round(gps.speedKmh)).u16(gps.heading).i16(gps.altitudeM).u16(10).u32(0).u8(gps.satellites);
    items.push(writeItem(0x20, fix.done()));
  }
  const cells = new Bytes().u16(mcc).u16(mnc);
  for (const { signalDbm, lac, cid } of seen.cells) cells.i8(signalDbm).u16(lac).u32(cid);
  items.push(writeItem(0x2b, cells.done()));
  const around = new Bytes();
  for (const { signalDbm, mac } of seen.accessPoints) around.i8(signalDbm).raw(bytesOf(mac));
  if (seen.accessPoints.length > 0) items.push(writeItem(0x22, around.done()));
  return items;
}

const alarmBits: Record<AlarmKind, number> = { low_battery: 0, fall: 2, sos: 12 };
const pendantAlarm = ({ atMs }: Snapshot, alarm: AlarmKind): Buffer =>
  writeItem(
    0x02,
    new Bytes()
      .u32(1 << alarmBits[alarm])
      .u32(seconds(atMs))
      .done(),
  );

function pendantReadings({ atMs, life }: Snapshot, what: Measurement): Buffer[] {
  const reading = (key: number, value: number): Buffer =>
    writeItem(key, new Bytes().u32(seconds(atMs)).u8(value).done());
  const steps = writeItem(0x30, new Bytes().u32(seconds(atMs)).u32(life.steps).done());
  if (what === "pulse") return [reading(0x40, life.pulse)];
  if (what === "oxygen") return [reading(0x41, life.oxygen)];
  return what === "all" ? [steps, reading(0x40, life.pulse), reading(0x41, life.oxygen)] : [];
}

function watchPlace(now: Snapshot, isStored: boolean): Buffer[] {
  const { seen, life, atMs } = now;
  const { gps, mcc, mnc } = seen;
  const flags = (life.isCharging ? 0b10 : 0) | (life.speedKmh > 0 ? 0b100 : 0) | (isStored ? 0b1000 : 0) | 0b1_0000;
  const status = new Bytes().u32(seconds(atMs)).u8(1).u8(life.battery).u8(4).u8(signalOf(now)).u16(3).u8(flags);
  const items = [writeItem(0x11, status.done())];
  if (gps) {
    const fix = new Bytes().f32(gps.lat).f32(gps.lng).u16(Math.round(gps.speedKmh)).u16(gps.heading);
    items.push(writeItem(0x20, fix.i16(gps.altitudeM).u16(10).u32(0).u8(gps.satellites).done()));
  }
  const cells = new Bytes().u16(mcc).u16(mnc);
  for (const { signalDbm, lac, cid } of seen.cells) cells.i8(signalDbm).u16(lac).u32(cid);
  items.push(writeItem(0x21, cells.done()));
  for (const [index, { signalDbm, mac }] of seen.accessPoints.entries()) {
    const address = Buffer.from(bytesOf(mac)).reverse();
    items.push(
      writeItem(
        0x26,
        new Bytes()
          .raw(address)
          .i8(signalDbm)
          .u8(index + 1)
          .u8(0)
          .done(),
      ),
    );
  }
  return items;
}

const alarmCodes: Record<AlarmKind, number> = { sos: 1, fall: 2, low_battery: 10 };
const watchAlarm = ({ atMs }: Snapshot, alarm: AlarmKind): Buffer =>
  writeItem(0x10, new Bytes().u32(seconds(atMs)).u8(alarmCodes[alarm]).done());

function watchReadings({ atMs, life }: Snapshot, what: Measurement): Buffer[] {
  const begin = (): Bytes => new Bytes().u32(seconds(atMs)).u8(1);
  const counted = (key: number, value: number): Buffer =>
    writeItem(key, begin().u8(value).u8(value).u8(value).u8(90).done());
  const warmth = writeItem(0x62, begin().f32(life.temperature).f32(life.temperature).f32(life.temperature).done());
  const steps = writeItem(0x50, new Bytes().u32(seconds(atMs)).u32(life.steps).done());
  if (what === "pulse") return [counted(0x60, life.pulse)];
  if (what === "oxygen") return [counted(0x61, life.oxygen)];
  if (what === "temperature") return [warmth];
  return what === "all" ? [steps, counted(0x60, life.pulse), counted(0x61, life.oxygen), warmth] : [];
}

function read(bytes: Buffer, version: EviewVersion): { messages: ServerMessage[]; rest: Buffer } {
  const messages: ServerMessage[] = [];
  let rest = bytes;
  for (let found = firstFrame(rest); found !== undefined; found = firstFrame(rest)) {
    rest = found.rest;
    const { frame } = found;
    const isCommand = frame?.command === commands.configuration || frame?.command === commands.control;
    if (!frame) messages.push({ kind: "unreadable" });
    else if (isCommand && frame.item) messages.push(toldCommand(frame.command, frame.sequence, ...frame.item, version));
    else messages.push({ kind: "answer", answer: String(frame.sequence), isRefusal: false });
  }
  return { messages, rest };
}

function toldCommand(command: number, sequence: number, key: number, value: Buffer, version: EviewVersion): Command {
  const answer = (payload: number[]): Buffer => writeFrame(Buffer.from(payload), sequence, version, false);
  const isConfiguration = command === commands.configuration;
  return {
    kind: "command",
    word: `${isConfiguration ? "02" : "04"}${key.toString(16).toUpperCase().padStart(2, "0")}`,
    values: [value.toString("hex")],
    acks: [answer(version === 1 ? [command] : [commands.response, 1, 0])],
    refusals: [answer([commands.response, 1, 0x0b])],
    effect: isConfiguration ? settingOf(key, value) : controls[key],
  };
}

const controls: Readonly<Partial<{ [key: number]: Effect }>> = {
  16: { kind: "ring" },
  32: { kind: "factory_reset" },
  33: { kind: "power_off" },
  34: { kind: "restart" },
};

const zoneKeys: ReadonlySet<number> = new Set([0x0e, 0x34]);

function settingOf(key: number, value: Buffer): Effect | undefined {
  if (!zoneKeys.has(key) || value.length === 0) return undefined;
  return { kind: "setting", name: "timezone", values: [String(value.readInt8(0) * 15)] };
}

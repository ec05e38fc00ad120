import { describe, expect, it } from "vitest";
import { iw } from "../../src/codecs/iw/protocol.ts";
import type { ProtocolDefinition, Session } from "../../src/codecs/protocol-definition.ts";
import type { TrackerMessage } from "../../src/codecs/tracker-message.ts";
import { watch } from "../../src/codecs/watch/protocol.ts";
import type { DeviceProtocol, Packet, Snapshot } from "../../src/simulator/device-protocol.ts";
import { makeEcg } from "../../src/simulator/ecg.ts";
import { makeFleet, rome } from "../../src/simulator/fleet.ts";
import { makeIwDevice } from "../../src/simulator/iw-device.ts";
import { momentAt } from "../../src/simulator/life.ts";
import { sightingAt } from "../../src/simulator/sighting.ts";
import { makeAmr } from "../../src/simulator/voice.ts";
import { makeWatchDevice } from "../../src/simulator/watch-device.ts";
import { decode as decodeBytes } from "../support/codec-harness.ts";

const city = { ...rome, utcOffsetMinutes: 60 };
const day = Date.parse("2026-03-02T00:00:00Z");
const times = Array.from({ length: 96 }, (_, index) => day + index * 900_000);

interface Case {
  name: string;
  codec: ProtocolDefinition;
  protocol: "iw" | "watch";
  device: DeviceProtocol;
  traits: Record<string, unknown>;
}

const cases: Case[] = [
  {
    name: "iw A",
    codec: iw,
    protocol: "iw",
    device: makeIwDevice("A"),
    traits: { dialect: "A" },
  },
  {
    name: "iw B",
    codec: iw,
    protocol: "iw",
    device: makeIwDevice("B"),
    traits: { dialect: "B", text_encoding: "gb2312" },
  },
  {
    name: "watch",
    codec: watch,
    protocol: "watch",
    device: makeWatchDevice(),
    traits: {},
  },
];

for (const { name, codec, protocol, device, traits } of cases) {
  describe(`the service's codec reads a simulated ${name}`, () => {
    const member = makeFleet(3, 1, protocol, city)[0]!;
    const session: Session = {
      nowMs: day,
      memory: new Map(),
      device: {
        imei: member.imei,
        id: member.id,
        utcOffsetMinutes: 60,
        traits,
        locale: "en",
        outstandingSerials: new Set(["123456"]),
      },
    };
    const snapshotAt = (atMs: number): Snapshot => {
      const life = momentAt(member.person, atMs);
      return { atMs, life, seen: sightingAt(member.person, atMs, life, true) };
    };
    const answerKeys = (replies: readonly Buffer[]): string[] =>
      replies.flatMap((reply) =>
        device.read(member, reply).messages.flatMap((message) => (message.kind === "answer" ? [message.answer] : [])),
      );

    /** One frame without problems, answered with what the device waits for. */
    function decode({ bytes, answer }: Packet): TrackerMessage[] {
      const { frames, problems, rest } = decodeBytes(codec, bytes, session);
      expect({ problems, rest: rest.length, frames: frames.length }).toEqual({ problems: [], rest: 0, frames: 1 });
      expect(answerKeys(frames[0]!.replies)).toEqual(answer === null ? [] : [answer]);
      return frames[0]!.messages;
    }
    const find = <K extends TrackerMessage["kind"]>(messages: readonly TrackerMessage[], kind: K) =>
      messages.find((message): message is Extract<TrackerMessage, { kind: K }> => message.kind === kind)!;

    it("as a login", () => {
      const login = device.login(member, snapshotAt(day));
      expect(codec.recognizes(login.bytes)).toBe(true);
      const decoded = decodeBytes(codec, login.bytes, { ...session, device: undefined });
      expect(decoded.frames[0]?.messages.at(-1)).toEqual({ kind: "login", id: member.id });
    });

    it("with places, networks and battery as they were", () => {
      for (const atMs of times) {
        const now = snapshotAt(atMs);
        const messages = decode(device.location(member, now, false));
        const fix = find(messages, "fix");
        expect(fix.deviceTimeMs).toBe(atMs);
        expect(fix.isBuffered).toBe(false);
        if (now.seen.gps) {
          expect(fix.gps!.lat).toBeCloseTo(now.seen.gps.lat, 5);
          expect(fix.gps!.lng).toBeCloseTo(now.seen.gps.lng, 5);
          expect(fix.gps!.speedKmh).toBe(now.seen.gps.speedKmh);
        } else expect(fix.gps).toBeNull();
        expect(fix.network).toEqual({ mcc: 222, mnc: 1 });
        expect(fix.cells[0]).toMatchObject({ lac: now.seen.cells[0]!.lac, cid: now.seen.cells[0]!.cid });
        expect(fix.accessPoints.map(({ mac }) => mac)).toEqual(now.seen.accessPoints.map(({ mac }) => mac));
        expect(find(messages, "vitals").metrics.bat).toBe(now.life.battery);
        expect(find(decode(device.location(member, now, true)), "fix").isBuffered).toBe(true);
      }
    });

    it("with alarms", () => {
      for (const alarm of ["sos", "fall", "low_battery"] as const) {
        for (const atMs of times.slice(40, 80)) {
          const messages = decode(device.alarm(member, snapshotAt(atMs), alarm));
          expect(messages.filter(({ kind }) => kind === "alarm")).toMatchObject([{ type: alarm, deviceTimeMs: atMs }]);
        }
      }
    });

    it("with readings and signs of life", () => {
      const now = snapshotAt(times[50]!);
      const { pulse, systolic, diastolic, oxygen, temperature } = now.life;
      const metrics = (what: Parameters<DeviceProtocol["readings"]>[2]) =>
        Object.assign(
          {},
          ...device.readings(member, now, what).map((packet) => find(decode(packet), "vitals").metrics),
        );
      expect(metrics("pulse")).toMatchObject({ hr: pulse });
      expect(metrics("pressure")).toMatchObject({ sbp: systolic, dbp: diastolic });
      expect(metrics("oxygen")).toMatchObject({ spo2: oxygen });
      expect(metrics("temperature")).toMatchObject({ temp: temperature });
      expect(metrics("all")).toMatchObject({
        hr: pulse,
        sbp: systolic,
        dbp: diastolic,
        spo2: oxygen,
        temp: temperature,
      });
      const beat = find(decode(device.heartbeat(member, now)), "vitals");
      expect(beat.metrics).toMatchObject({ bat: now.life.battery, steps: now.life.steps });
    });

    it("with voice, part by part", () => {
      const amr = makeAmr(1, 3);
      const parts = device.voice(member, snapshotAt(day), amr).map((packet) => find(decode(packet), "voice_part"));
      expect(parts.map(({ sequence }) => sequence)).toEqual(parts.map((_, index) => index + 1));
      expect(Buffer.concat(parts.map(({ bytes }) => bytes))).toEqual(amr);
    });

    it("with ECG, part by part, if it has one", () => {
      const { samples } = makeEcg(1, 70, day, 5);
      const parts = device
        .ecg(member, { startMs: day, samplingRateHz: 250, samples })
        .map((packet) => find(decode(packet), "ecg_part"));
      if (name !== "iw A") return expect(parts).toEqual([]);
      expect(parts.map(({ sequence, total }) => [sequence, total])).toEqual([
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
      expect(parts[0]).toMatchObject({ deviceTimeMs: day, samplingRateHz: 250, lead: 1, scaleUv: 2.5, gain: 10 });
      const received = parts.flatMap((part) => part.samples.map((sample) => sample * part.scaleUv));
      for (const [index, sample] of samples.entries()) expect(Math.abs(received[index]! - sample)).toBeLessThan(1.3);
    });

    it("answering commands, voice and texts", () => {
      const commands: [string, Record<string, unknown>][] = [
        ["locate_now", {}],
        ["send_message", { text: "Hello, is all well?" }],
        ["set_working_mode", { mode: "emergency" }],
        ["set_working_mode", { mode: "custom", interval_seconds: 45, gps_enabled: true }],
        ["set_timezone", { utc_offset_minutes: 120 }],
        ["restart", {}],
        ["power_off", {}],
        ["factory_reset", {}],
        ["test_heart_rate", {}],
        ["test_blood_pressure", {}],
        ["test_temperature", {}],
        ["test_blood_oxygen", {}],
        ["set_report_interval", { interval_seconds: 90 }],
        ["set_sos_numbers", { numbers: ["+39333111222"] }],
        ["set_contacts", { contacts: [{ name: "Anna", phone: "+39333111222" }] }],
        ["set_fall_detection", { enabled: true, sensitivity: 2 }],
        ["set_heart_rate_interval", { enabled: true, interval_minutes: 10 }],
      ];
      for (const [type, params] of commands) {
        const frames = codec.encode({ kind: "command", type, params, serial: "123456" }, session);
        expect(frames.length).toBeGreaterThan(0);
        for (const frame of frames) {
          const { messages, rest } = device.read(member, frame);
          expect({ rest: rest.length, kinds: messages.map(({ kind }) => kind) }).toEqual({
            rest: 0,
            kinds: ["command"],
          });
          for (const one of messages) {
            if (one.kind !== "command") continue;
            const answers = one.acks.flatMap((ack) => decode({ bytes: ack, answer: null }));
            const serial = protocol === "iw" ? "123456" : null;
            expect(answers[0], type).toMatchObject({ kind: "command_answer", serial });
          }
        }
      }
      const voice = {
        kind: "voice_part",
        senderName: "Anna",
        serial: "123456",
        total: 1,
        sequence: 1,
        bytes: makeAmr(2, 0.5),
      } as const;
      const [frame] = codec.encode(voice, session);
      const { messages } = device.read(member, frame!);
      expect(messages).toMatchObject([
        { kind: "command", effect: { kind: "voice_part", total: 1, sequence: 1, bytes: makeAmr(2, 0.5) } },
      ]);
      const [received] = messages;
      if (received?.kind !== "command") throw new Error("voice was not heard");
      const answerOf = (bytes: Buffer) => decode({ bytes, answer: null });
      expect(answerOf(received.acks[0]!).at(-1)).toMatchObject({ kind: "message_answer", isAccepted: true });
      expect(answerOf(received.refusals[0]!).at(-1)).toMatchObject({ kind: "message_answer", isAccepted: false });
      const [text] = codec.encode(
        { kind: "text", text: "Come va, 你好?", senderName: "Anna", serial: "123456" },
        session,
      );
      expect(device.read(member, text!).messages).toMatchObject([{ effect: { kind: "text", text: "Come va, 你好?" } }]);
    });
  });
}

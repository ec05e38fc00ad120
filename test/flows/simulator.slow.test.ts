import { createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeClock } from "../../src/lib/clock.ts";
import { type FleetProtocol, makeFleet, rome } from "../../src/simulator/fleet.ts";
import { makeProgressLine, summarize } from "../../src/simulator/progress.ts";
import { type Simulation, type SimulationOptions, startSimulation } from "../../src/simulator/simulation.ts";
import { makeAmr } from "../../src/simulator/voice.ts";

interface Frame {
  text: string;
  connection: number;
}

/** A gateway that remembers what it gets and answers as it is told to. */
class FakeGateway {
  readonly frames: Frame[] = [];
  readonly sockets: Socket[] = [];
  /** The answer to a frame; undefined: none. */
  answer: (text: string) => string | undefined;
  readonly #server: Server;

  constructor(answer: (text: string) => string | undefined) {
    this.answer = answer;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  listen(): Promise<number> {
    return new Promise((resolve) => {
      this.#server.listen(0, "127.0.0.1", () => resolve((this.#server.address() as { port: number }).port));
    });
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  texts(start = ""): string[] {
    return this.frames.map(({ text }) => text).filter((text) => text.startsWith(start));
  }

  tell(text: string): void {
    this.sockets.at(-1)?.write(Buffer.from(text, "latin1"));
  }

  #accept(socket: Socket): void {
    const connection = this.sockets.push(socket) - 1;
    let rest = "";
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      rest += bytes.toString("latin1");
      for (let text = firstFrame(rest); text !== undefined; text = firstFrame(rest)) {
        rest = rest.slice(text.length);
        this.frames.push({ text, connection });
        const answer = this.answer(text);
        if (answer !== undefined) socket.write(Buffer.from(answer, "latin1"));
      }
    });
  }
}

function firstFrame(text: string): string | undefined {
  if (text.startsWith("[")) return text.includes("]") ? text.slice(0, text.indexOf("]") + 1) : undefined;
  const [head, length] = /^IWAP07,\d+,\d+,\d+,(\d+),/.exec(text) ?? [];
  if (head !== undefined) {
    const end = head.length + Number(length) + 1;
    return text.length >= end ? text.slice(0, end) : undefined;
  }
  return text.includes("#") ? text.slice(0, text.indexOf("#") + 1) : undefined;
}

function iwAnswer(text: string): string | undefined {
  const code = text.slice(4, 6);
  if (code === "00") return "IWBP00,20260302120000,1#";
  if (code === "07") return `IWBP07,${text.split(",").slice(1, 4).join(",")},1#`;
  return /^IWAP\w\w,123456/.test(text) || code === "28" ? undefined : `IWBP${code}#`;
}

const watchAnswer = (text: string): string | undefined => {
  const [, id, word] = /^\[3G\*(\d+)\*[0-9A-F]{4}\*(LK|AL|TK)/.exec(text) ?? [];
  if (word === undefined || text.endsWith("*TK,1]")) return undefined;
  return word === "TK" ? `[3G*${id}*0004*TK,1]` : `[3G*${id}*0002*${word}]`;
};

// Noon on a Monday in Rome, so that nobody is asleep; incidents of that day are told by the seed.
const lifeStartMs = Date.parse("2026-03-02T11:00:00Z");
const hurry = { answerTimeoutMs: 5000, measureMs: 50, restartMs: 100, powerOffMs: 150, backoffMs: [100] };
const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(
  protocol: FleetProtocol,
  answer: (text: string) => string | undefined,
  options: Partial<SimulationOptions> = {},
): Promise<{ gateway: FakeGateway; simulation: Simulation }> {
  const gateway = new FakeGateway(answer);
  const port = await gateway.listen();
  closers.push(() => gateway.close());
  const fleet = makeFleet(11, 1, protocol, { ...rome, utcOffsetMinutes: 60 });
  const simulation = startSimulation({
    fleet,
    host: "127.0.0.1",
    port,
    clock: makeClock(),
    lifeStartMs,
    intervalMs: 200,
    ...options,
    timings: { ...hurry, ...options.timings },
  });
  closers.push(() => simulation.close());
  return { gateway, simulation };
}

const until = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 10_000, interval: 10 });
/** Quiet but for what the test asks for. */
const quiet = { intervalMs: 3_600_000 };

describe("a simulated IW watch", () => {
  it("logs in, and then reports at its interval", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer);
    await until(() => expect(gateway.texts("IWAP01").length).toBeGreaterThan(4));
    const { imei } = simulation.devices[0]!.member;
    expect(gateway.frames[0]!.text).toBe(`IWAP00${imei}#`);
    expect(gateway.texts("IWAP00")).toHaveLength(1);
    await until(() => expect(gateway.texts().some((text) => /^IWAP(49|HT|HP|50),/.test(text))).toBe(true));
    const { tally } = simulation;
    await until(() => expect(tally.acked).toBe(tally.sent));
    expect(tally).toMatchObject({ online: 1, errors: 0, resent: 0 });
    expect(makeProgressLine(tally, 1, 0)(1000)).toMatch(/^1 of 1 connected, .* packets\/s sent/);
  });

  it("waits for the answer before the next report, and repeats the same bytes", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, {
      timings: { answerTimeoutMs: 300, maxAttempts: 100 },
    });
    await until(() => expect(gateway.texts("IWAP01").length).toBeGreaterThan(0));
    gateway.answer = () => undefined;
    const before = gateway.frames.length;
    await until(() => expect(gateway.frames.length).toBeGreaterThan(before + 2));
    const repeated = new Set(gateway.texts().slice(before + 1));
    expect(repeated.size).toBe(1);
    expect(simulation.devices[0]!.waiting).toBeGreaterThan(1);
    gateway.answer = iwAnswer;
    await until(() => expect(simulation.devices[0]!.waiting).toBeLessThan(2));
    expect(simulation.tally.resent).toBeGreaterThan(0);
  });

  it("sends what was not acknowledged again after a cut, with the same bytes, and what it stored meanwhile", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer);
    await until(() => expect(gateway.texts("IWAP01").length).toBeGreaterThan(0));
    let cut = "";
    gateway.answer = (text) => {
      if (!text.startsWith("IWAP01") || cut !== "") return cut === "" ? iwAnswer(text) : undefined;
      cut = text;
      gateway.sockets.at(-1)?.destroy();
      return undefined;
    };
    await until(() => expect(cut).not.toBe(""));
    gateway.answer = iwAnswer;
    await until(() => expect(gateway.texts("IWAP00")).toHaveLength(2));
    await until(() => expect(gateway.frames.filter(({ connection }) => connection === 1).length).toBeGreaterThan(2));
    const [login, first] = gateway.frames.filter(({ connection }) => connection === 1);
    expect(login!.text).toMatch(/^IWAP00/);
    expect(first!.text).toBe(cut);
    await until(() => expect(gateway.texts("IWAP01").length).toBeGreaterThan(3));
    expect(summarize(simulation.tally, 1, 1000)).toMatchObject({ connected: 1, connections: 2, packets_resent: 1 });
  });

  it("answers commands by serial and does what they say", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, quiet);
    const device = simulation.devices[0]!;
    const { imei } = device.member;
    await until(() => expect(device.isOnline).toBe(true));
    const expectAnswer = async (command: string, ack: string): Promise<void> => {
      gateway.tell(`IWBP${command}#`.replace("IMEI", `${imei},123456`));
      await until(() => expect(gateway.texts()).toContain(ack));
    };
    await expectAnswer("16,IMEI", "IWAP16,123456#");
    await until(() => expect(gateway.texts("IWAP01")).toHaveLength(1));
    await expectAnswer("XL,IMEI", "IWAPXL,123456#");
    await until(() => expect(gateway.texts("IWAP49,")).toHaveLength(1));
    await expectAnswer("XY,IMEI", "IWAPXY,123456#");
    await until(() => expect(gateway.texts("IWAPHT,")).toHaveLength(1));
    await expectAnswer("XT,IMEI", "IWAPXT,123456#");
    await until(() => expect(gateway.texts("IWAP50,")).toHaveLength(1));
    await expectAnswer("XZ,IMEI", "IWAPXZ,123456#");
    await until(() => expect(gateway.texts("IWAPHP,,,,")).toHaveLength(1));
    await expectAnswer("33,IMEI,2", "IWAP33,123456,2#");
    expect(device.intervalMs).toBe(3_600_000);
    await expectAnswer("40,IMEI,00480069", "IWAP40,123456#");
    expect(simulation.tally.texts).toBe(1);
    await expectAnswer("34,IMEI,8,30,1", "IWAP34,123456#");
    expect(device.intervalMs).toBe(30_000);
    expect(device.inbox.lastText).toBe("Hi");
    await expectAnswer("12,IMEI,112,,", "IWAP12,123456#");
    await expectAnswer("20,IMEI,0,-3.5", "IWAP20,123456#");
    await expectAnswer("76,IMEI,1", "IWAP76,123456#");
    expect(Object.fromEntries(device.settings)).toEqual({
      sos_numbers: ["112", "", ""],
      timezone: ["0", "-3.5"],
      fall_detection: ["1"],
    });
    for (const [code, logins] of [
      ["18", 2],
      ["31", 3],
      ["17", 4],
    ] as const) {
      await expectAnswer(`${code},IMEI`, `IWAP${code},123456#`);
      await until(() => expect(gateway.texts("IWAP00")).toHaveLength(logins));
      await until(() => expect(device.isOnline).toBe(true));
    }
    expect(device.intervalMs).toBe(3_600_000);
    expect(device.settings.size).toBe(0);
    expect(simulation.tally).toMatchObject({ errors: 0, settings: 3 });
  });

  it("ignores, refuses and delays commands where a test wants it", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, {
      ...quiet,
      react: ({ word }) =>
        word === "16"
          ? "ignore"
          : word === "33" || word === "28"
            ? "refuse"
            : word === "XL"
              ? { afterMs: 150 }
              : "obey",
    });
    const device = simulation.devices[0]!;
    const tell = (command: string): void =>
      gateway.tell(`IWBP${command}#`.replace("IMEI", `${device.member.imei},123456`));
    await until(() => expect(device.isOnline).toBe(true));
    tell("16,IMEI");
    tell("XL,IMEI");
    tell("33,IMEI,2");
    tell("28,0041,123456,1,1,6,#!AMR\n");
    tell("12,IMEI,,,");
    await until(() => expect(gateway.texts("IWAP49,")).toHaveLength(1));
    expect(gateway.texts().filter((text) => /^IWAP\w\w,(0041,)?123456/.test(text))).toEqual([
      "IWAP33,123456,1#",
      "IWAP28,0041,123456,1,1,0#",
      "IWAP12,123456#",
      "IWAPXL,123456#",
    ]);
    expect(gateway.texts("IWAP01")).toEqual([]);
    expect(device.intervalMs).toBe(3_600_000);
    expect(simulation.tally).toMatchObject({ commands: 5, defied: 4, voiceReceived: 0 });
  });

  it("records an ECG and sends it part by part, each after the answer to the one before", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, { ...quiet, timings: { answerTimeoutMs: 300 } });
    const device = simulation.devices[0]!;
    await until(() => expect(device.isOnline).toBe(true));
    gateway.answer = (text) => (text.startsWith("IWAPHD") ? undefined : iwAnswer(text));
    expect(device.recordEcg(5)).toBe(true);
    await until(() => expect(gateway.texts("IWAPHD")).toHaveLength(2));
    expect(new Set(gateway.texts("IWAPHD")).size).toBe(1);
    gateway.answer = iwAnswer;
    await until(() => expect(device.waiting).toBe(0));
    expect([...new Set(gateway.texts("IWAPHD"))].map((text) => text.split(",")[3])).toEqual(["1", "2", "3"]);
    expect(summarize(simulation.tally, 1, 1000)).toMatchObject({ ecg_sent: 1, connected: 1 });
  });

  it("sends voice part by part, again what was refused, and acknowledges voice", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, quiet);
    const device = simulation.devices[0]!;
    await until(() => expect(device.isOnline).toBe(true));
    let isFirst = true;
    gateway.answer = (text) => {
      const answer = iwAnswer(text);
      if (!isFirst || !text.startsWith("IWAP07")) return answer;
      isFirst = false;
      return answer?.replace(/1#$/, "0#");
    };
    const amr = makeAmr(3, 1.5);
    device.say(amr);
    await until(() => expect(gateway.texts("IWAP07")).toHaveLength(4));
    const [refused, ...parts] = gateway.texts("IWAP07");
    expect(parts[0]).toBe(refused);
    const data = parts.map((part) => part.slice(part.split(",", 5).join(",").length + 1, -1)).join("");
    expect(Buffer.from(data, "latin1").equals(amr)).toBe(true);

    const piece = makeAmr(4, 0.3);
    for (const sequence of [1, 2]) {
      const frame = `IWBP28,0041,123456,2,${sequence},${piece.length},${piece.toString("latin1")}#`;
      gateway.tell(frame.slice(0, 40));
      gateway.tell(frame.slice(40));
      await until(() => expect(gateway.texts()).toContain(`IWAP28,0041,123456,2,${sequence},1#`));
    }
    expect(simulation.tally).toMatchObject({ voiceSent: 1, voiceReceived: 1, voicePartsReceived: 2 });
    expect(device.inbox.lastVoice).toEqual(Buffer.concat([piece, piece]));
  });

  it("raises alarms, and keeps them while there is no connection", async () => {
    const { gateway, simulation } = await open("iw", iwAnswer, { ...quiet, timings: { backoffMs: [300] } });
    const device = simulation.devices[0]!;
    await until(() => expect(device.isOnline).toBe(true));
    gateway.sockets.at(-1)?.destroy();
    await until(() => expect(device.isOnline).toBe(false));
    device.raiseAlarm("sos");
    await until(() => expect(gateway.texts("IWAP10")).toHaveLength(1));
    expect(gateway.texts("IWAP10")[0]).toMatch(/^IWAP10\d{6}[AV].{52},222,1,\d+,\d+,01,en,00,/);
    await until(() => expect(device.waiting).toBe(0));
  });

  it("counts refused logins and tries again", async () => {
    const { gateway, simulation } = await open("iw", () => undefined, quiet);
    gateway.answer = () => {
      gateway.sockets.at(-1)?.end();
      return undefined;
    };
    await until(() => expect(simulation.tally.refusedLogins).toBeGreaterThan(1));
    expect(simulation.tally).toMatchObject({ online: 0, acked: 0 });
  });
});

describe("a simulated watch", () => {
  it("begins with a sign of life, and sends positions that nobody answers", async () => {
    const { gateway, simulation } = await open("watch", watchAnswer);
    const { imei } = simulation.devices[0]!.member;
    const id = imei.slice(4, 14);
    await until(() => expect(gateway.texts().filter((text) => text.includes("*UD,")).length).toBeGreaterThan(3));
    expect(gateway.frames[0]!.text).toMatch(new RegExp(`^\\[3G\\*${id}\\*00[0-9A-F]{2}\\*LK,\\d+,0,\\d+\\]$`));
    for (const text of gateway.texts()) {
      const [, length, content] = /^\[3G\*\d{10}\*([0-9A-F]{4})\*(.*)\]$/s.exec(text)!;
      expect(content!.length).toBe(Number.parseInt(length!, 16));
    }
    expect(simulation.tally).toMatchObject({ acked: 1, expectingAnswer: 1, errors: 0 });
  });

  it("repeats the words of commands and does what they say", async () => {
    const { gateway, simulation } = await open("watch", watchAnswer, quiet);
    const device = simulation.devices[0]!;
    const id = device.member.imei.slice(4, 14);
    await until(() => expect(device.isOnline).toBe(true));
    const tellAndExpect = async (content: string, answer: string): Promise<void> => {
      const length = (text: string): string => text.length.toString(16).toUpperCase().padStart(4, "0");
      gateway.tell(`[3G*${id}*${length(content)}*${content}]`);
      await until(() => expect(gateway.texts()).toContain(`[3G*${id}*${length(answer)}*${answer}]`));
    };
    const contents = (word: string): string[] => gateway.texts().filter((text) => text.includes(`*${word},`));
    await tellAndExpect("CR", "CR");
    await until(() => expect(contents("UD")).toHaveLength(1));
    await tellAndExpect("UPLOAD,600", "UPLOAD");
    expect(device.intervalMs).toBe(600_000);
    await tellAndExpect("hrtstart,1", "hrtstart");
    await until(() => expect(contents("bphrt")).toHaveLength(1));
    await tellAndExpect("oxygen", "oxygen");
    await until(() => expect(contents("oxygen")).toHaveLength(1));
    await tellAndExpect("bodytemp2", "bodytemp2");
    await until(() => expect(contents("btemp2")).toHaveLength(1));
    await tellAndExpect("LZ,0,+1", "LZ");
    await tellAndExpect("MESSAGE,00480069", "MESSAGE");
    await tellAndExpect("FIND", "FIND");
    expect([device.inbox.lastText, device.settings.get("timezone")]).toEqual(["Hi", ["0", "+1"]]);
    expect(device.recordEcg()).toBe(false);
    await tellAndExpect("TK,#!AMR\n<\x7d\x02\x7d\x04", "TK,1");
    expect(device.inbox.lastVoice?.toString("latin1")).toBe("#!AMR\n<[,");
    device.say(makeAmr(5, 1));
    await until(() => expect(device.waiting).toBe(0));
    device.raiseAlarm("fall");
    await until(() => expect(contents("AL")[0]).toMatch(/,0020000[01],2,0,222,1,/));
    await tellAndExpect("RESET", "RESET");
    await until(() => expect(gateway.sockets).toHaveLength(2));
    expect(simulation.tally).toMatchObject({ voiceReceived: 1, voiceSent: 1, unreadable: 0 });
  });
});

describe("a fleet", () => {
  it("connects by the hundreds with one timer", async () => {
    const city = { ...rome, utcOffsetMinutes: 60 };
    const fleet = [...makeFleet(12, 150, "iw", city), ...makeFleet(13, 150, "watch", city)];
    const { simulation } = await open("iw", (text) => iwOrWatch(text), { fleet, intervalMs: 1000 });
    await until(() => expect(simulation.tally.online).toBe(300));
    await until(() => expect(simulation.tally.sent).toBeGreaterThan(900));
    expect(simulation.tally.errors).toBe(0);
  });
});

const iwOrWatch = (text: string): string | undefined => (text.startsWith("[") ? watchAnswer(text) : iwAnswer(text));

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { guessImeis, openSocket } from "../support/attackers.ts";
import { opusFile } from "../support/hostile-audio.ts";
import { SosWatch } from "../support/sos-watch.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";
import { multipart } from "../support/voice-upload.ts";

/** What a security review found, tried on the running program from outside: by its sockets and its command line alone. */
/** Ten apart: the ids that watches of one maker tell are cut out of their IMEIs, without the last digit. */
let lastImei = 490_154_203_000_000;
const nextImei = (): string => {
  lastImei += 10;
  return String(lastImei);
};
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
let service: RunningVigil;
let folder: Awaited<ReturnType<typeof tempFolder>>;
let where: string[];
let attacker: Party;
let victim: Party;

interface Party {
  slug: string;
  token: string;
}

interface Answer {
  status: number;
  text: string;
  body: Record<string, unknown>;
}

async function makeParty(slug: string): Promise<Party> {
  await vigilJson(["org", "create", "--name", slug, "--slug", slug, ...where]);
  return { slug, token: await tokenWith(slug, "all") };
}

async function tokenWith(slug: string, scopes: string): Promise<string> {
  const args = ["integration", "create", "--org", slug, "--name", `App ${scopes}`, "--scopes", scopes];
  return fetchTokenOf(service.http, await vigilJson<Credentials>([...args, ...where]));
}

async function call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(service.http + path, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, text, body: text.startsWith("{") ? JSON.parse(text) : {} };
}

const register = (party: Party, body: Record<string, unknown>): Promise<Answer> =>
  call("POST", "/api/v1/devices/", party.token, { name: "Watch", ...body });

/** The most memory that the processes below the service have had, by the books of Linux. */
function peakMb(pid = service.process.pid as number): number {
  const status = (of: string | number): string => {
    try {
      return readFileSync(`/proc/${of}/status`, "utf8");
    } catch {
      return "";
    }
  };
  const children = readdirSync("/proc").filter((entry) => status(entry).includes(`PPid:\t${pid}\n`));
  const own = Number(/VmHWM:\s+(\d+)/.exec(status(pid))?.[1] ?? 0) / 1024;
  return Math.round(Math.max(own, ...children.map((child) => peakMb(Number(child)))));
}

beforeAll(async () => {
  folder = await tempFolder();
  where = ["--data-dir", folder.path];
  service = await startVigil(where, { VIGIL_LOG_LEVEL: "fatal", VIGIL_GATEWAY_HOST: "127.0.0.1" });
  [attacker, victim] = [await makeParty("attacker"), await makeParty("victim")];
});
afterAll(async () => {
  await service?.kill("SIGTERM");
  await folder?.remove();
});

describe("the id of another organization's watch", () => {
  it("cannot be claimed before it is registered without its owner being told, nor after", async () => {
    const claimed = nextImei();
    const defaultId = claimed.slice(4, 14);
    const claim = { device_model_slug: "watch-generic", terminal_id: defaultId };
    expect((await register(attacker, { uid: nextImei(), ...claim })).status).toBe(201);
    const refused = await register(victim, { uid: claimed, device_model_slug: "watch-generic" });
    expect([refused.status, refused.body.code]).toEqual([409, "terminal_id_conflict"]);
    expect(refused.text).not.toContain(attacker.slug);
    const owned = nextImei();
    expect((await register(victim, { uid: owned, device_model_slug: "watch-generic" })).status).toBe(201);
    const late = await register(attacker, { uid: nextImei(), ...claim, terminal_id: owned.slice(4, 14) });
    expect([late.status, late.body.code]).toEqual([409, "terminal_id_conflict"]);
  });
});

describe("a stranger at the gateway", () => {
  const port = (): number => Number(service.gateway.split(":").at(-1));

  it("who sends a long frame on 2,000 connections, a byte at a time, delays no call for help", async () => {
    const uid = nextImei();
    expect((await register(victim, { uid, device_model_slug: "iw-h10" })).status).toBe(201);
    const watch = new SosWatch(port(), "127.1.0.1", uid);
    await watch.loggedIn();
    const begun = Buffer.concat([Buffer.from("[3G*8800000015*FFFF*TK,"), Buffer.alloc(60_000, 0x30)]);
    const sockets = Array.from({ length: 2000 }, (_, index) => {
      const socket = openSocket(port(), `127.4.0.${1 + (index % 50)}`);
      socket.on("connect", () => socket.write(begun));
      return socket.resume();
    });
    const timer = setInterval(() => {
      for (const socket of sockets) if (socket.writable && !socket.connecting) socket.write("0");
    }, 1000);
    for (let round = 0; round < 20; round++) {
      watch.callForHelp();
      await pause(500);
    }
    clearInterval(timer);
    const worst = Math.max(watch.waitingMs, ...watch.times);
    console.log(`2,000 long frames: ${watch.times.length} calls for help answered, slowest ${Math.round(worst)} ms`);
    for (const one of sockets) one.destroy();
    watch.close();
    expect(worst).toBeLessThan(5000);
  });

  it("who guesses ids is slowed to two a second", async () => {
    const attack = guessImeis(port(), "127.2.0.1", 20, 350_000_000_000_000);
    await pause(5000);
    const before = attack.answered;
    await pause(5000);
    console.log(`guesses: ${before} answered in the first 5 s, ${attack.answered - before} in the next`);
    attack.close();
    expect(attack.answered - before).toBeLessThan(40);
  });

  it("who takes a watch over again and again is told to its organization", async () => {
    const uid = nextImei();
    expect((await register(victim, { uid, device_model_slug: "iw-h10" })).status).toBe(201);
    for (let round = 0; round < 8; round++) {
      const socket = openSocket(port(), `127.3.0.${1 + (round % 2)}`);
      await new Promise((done) => socket.once("connect", done));
      socket.write(`IWAP00${uid}#`);
      await new Promise((done) => socket.once("data", done));
    }
    let text = "";
    for (let round = 0; round < 20 && !text.includes("session_conflict"); round++) {
      text = (await call("GET", `/api/v1/events/?device_uid=${uid}`, victim.token)).text;
      await pause(250);
    }
    expect(text).toContain("session_conflict");
  });
});

describe("a file or a body", () => {
  it("with 230 channels of sound takes no memory, and is refused", async () => {
    const uid = nextImei();
    expect((await register(attacker, { uid, device_model_slug: "iw-h10" })).status).toBe(201);
    const { payload, contentType } = multipart({ file: opusFile(230), fileName: "voice.opus" });
    const answer = await fetch(`${service.http}/api/v1/devices/${uid}/messages/upload-voice/`, {
      method: "POST",
      headers: { authorization: `Bearer ${attacker.token}`, "content-type": contentType },
      body: new Uint8Array(payload),
    });
    console.log(`230 channels: ${answer.status}, peak of any process ${peakMb()} MB`);
    expect(answer.status).toBe(415);
    expect(peakMb()).toBeLessThan(700);
  });

  it("of a megabyte is not read without a token, and not checked with one", async () => {
    const wrong = `{"name":1,"tags":[${"0,".repeat(450_000)}0]}`;
    expect((await call("POST", "/console/api/login/", undefined, wrong)).status).toBe(413);
    const answer = await call("POST", "/api/v1/devices/", attacker.token, wrong);
    expect(answer.status).toBe(413);
    expect(answer.text.length).toBeLessThan(2000);
  });

  it("of random orderings is refused, and leaves no prepared statement behind", async () => {
    const fields = ["uid", "-uid", "name", "-name", "created_at", "-created_at"];
    const random = Array.from({ length: 300 }, (_, index) => fields[((index * 7 + index / 6) % fields.length) | 0]);
    const answer = await call("GET", `/api/v1/devices/?ordering=${random.join(",")}`, attacker.token);
    expect([answer.status, Object.keys((answer.body.errors ?? {}) as object)]).toEqual([400, ["ordering"]]);
  });
});

describe("a password", () => {
  it("is tried ten times, not a hundred and fifty, however many calls come at once", async () => {
    const email = "nurse@example.org";
    const make = ["user", "create", "--org", victim.slug, "--email", email, "--role", "USER", "--password-stdin"];
    expect((await runVigil([...make, ...where], {}, "correct horse battery")).code).toBe(0);
    const attempts = await Promise.all(
      Array.from({ length: 150 }, (_, index) =>
        call("POST", "/console/api/login/", undefined, { email, password: `wrong guess ${index}` }),
      ),
    );
    const checked = attempts.filter(({ status }) => status === 401).length;
    console.log(`150 passwords at once: ${checked} were checked`);
    expect(checked).toBeLessThanOrEqual(10);
    expect(attempts.filter(({ status }) => status === 429).length).toBe(150 - checked);
  });

  it("that was forgotten is reset by mail, and one that was told is changed", async () => {
    const forgot = await call("POST", "/console/api/password/forgot/", undefined, { email: "nobody@example.org" });
    expect(forgot.status).toBe(202);
    expect((await call("POST", "/console/api/password/", undefined, {})).status).toBe(401);
  });
});

describe("the numbers that a watch calls", () => {
  it("are hidden from those who may read commands alone", async () => {
    const uid = nextImei();
    expect((await register(victim, { uid, device_model_slug: "iw-h10" })).status).toBe(201);
    const command = { command_type: "set_sos_numbers", params: { numbers: ["+390698765432"] } };
    const sent = await call("POST", `/api/v1/devices/${uid}/commands/`, victim.token, command);
    expect(sent.status).toBe(201);
    const reader = await tokenWith(victim.slug, "commands:read,devices:read");
    const seen = await call("GET", `/api/v1/devices/${uid}/commands/`, reader);
    expect(seen.body.results).toMatchObject([{ command_type: "set_sos_numbers", params: { redacted: true } }]);
    expect(seen.text).not.toContain("98765432");
  });
});

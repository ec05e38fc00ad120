import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import PostalMime from "postal-mime";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, AttackedService, comesTrue, nextImei, type Party, pause } from "../support/attacked-service.ts";
import { guessImeis, openSocket } from "../support/attackers.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { opusFile } from "../support/hostile-audio.ts";
import { SosWatch } from "../support/sos-watch.ts";
import { fixture } from "../support/voice-samples.ts";
import { multipart } from "../support/voice-upload.ts";

/** What a security review found, tried on the running program from outside: by its sockets and its command line alone. */
let database: TestDatabase;
let service: AttackedService;
let attacker: Party;
let victim: Party;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await AttackedService.open({ DATABASE_URL: database.url });
  [attacker, victim] = [await service.makeParty("attacker"), await service.makeParty("victim")];
});
afterAll(async () => {
  await service?.close();
  await database?.drop();
});

describe("the id of another organization's watch", () => {
  it("cannot be claimed before it is registered without its owner being told, nor after", async () => {
    const claimed = nextImei();
    const defaultId = claimed.slice(4, 14);
    const claim = { device_model_slug: "watch-generic", terminal_id: defaultId };
    expect((await service.tryToRegister(attacker, { uid: nextImei(), ...claim })).status).toBe(201);
    const refused = await service.tryToRegister(victim, { uid: claimed, device_model_slug: "watch-generic" });
    expect([refused.status, refused.body.code]).toEqual([409, "terminal_id_conflict"]);
    expect(refused.text).not.toContain(attacker.slug);
    const owned = await service.register(victim, "watch-generic");
    const late = await service.tryToRegister(attacker, { uid: nextImei(), ...claim, terminal_id: owned.slice(4, 14) });
    expect([late.status, late.body.code]).toEqual([409, "terminal_id_conflict"]);
  });
});

describe("a stranger at the gateway", () => {
  it("who opens brackets on 2,000 connections, and one more each second, delays no call for help", async () => {
    const watch = new SosWatch(service.gatewayPort, "127.1.0.1", await service.register(victim));
    await watch.loggedIn();
    // Every bracket may begin a frame, and must be looked at. A quarter keeps below what a connection may leave undecoded.
    const begun = [1900, 8000, 8000, 8000].map((count) => `[3G*8800000015*FFFF*TK,${"[".repeat(count)}`);
    const sockets = Array.from({ length: 2000 }, (_, index) => {
      const socket = openSocket(service.gatewayPort, `127.4.0.${1 + (index % 50)}`);
      socket.on("connect", () => socket.write(begun[index % 4] as string));
      return socket.resume();
    });
    const timer = setInterval(() => {
      for (const socket of sockets) if (socket.writable && !socket.connecting) socket.write("[");
    }, 1000);
    for (let round = 0; round < 20; round++) {
      watch.callForHelp();
      await pause(500);
    }
    clearInterval(timer);
    const isAnswered = await comesTrue(() => watch.waitingMs === 0, 40_000);
    const worst = Math.round(Math.max(watch.waitingMs, ...watch.times));
    console.log(`H1: ${watch.times.length} calls for help answered, slowest ${worst} ms`);
    for (const one of sockets) one.destroy();
    watch.close();
    expect(isAnswered).toBe(true);
    expect(worst).toBeLessThan(5000);
  });

  it("who guesses ids is slowed to two a second", async () => {
    const attack = guessImeis(service.gatewayPort, "127.2.0.1", 20, 350_000_000_000_000);
    await pause(5000);
    const before = attack.answered;
    await pause(5000);
    console.log(`H4: guesses: ${before} answered in the first 5 s, ${attack.answered - before} in the next`);
    attack.close();
    expect(attack.answered - before).toBeLessThan(40);
  });

  it("who takes a watch over again and again is told to its organization", async () => {
    const uid = await service.register(victim);
    for (let round = 0; round < 8; round++) {
      const socket = openSocket(service.gatewayPort, `127.3.0.${1 + (round % 2)}`);
      await new Promise((done) => socket.once("connect", done));
      socket.write(`IWAP00${uid}#`);
      await new Promise((done) => socket.once("data", done));
    }
    const events = (): Promise<Answer> => service.call("GET", `/api/v1/events/?device_uid=${uid}`, victim.token);
    expect(await comesTrue(async () => (await events()).text.includes("session_conflict"), 10_000)).toBe(true);
  });
});

describe("a file or a body", () => {
  it("with 230 channels of sound takes no memory, and is refused", async () => {
    const uid = await service.register(attacker);
    const { payload, contentType } = multipart({ file: opusFile(230, 1000), fileName: "voice.opus" });
    const answer = await fetch(`${service.http}/api/v1/devices/${uid}/messages/upload-voice/`, {
      method: "POST",
      headers: { authorization: `Bearer ${attacker.token}`, "content-type": contentType },
      body: new Uint8Array(payload),
    });
    console.log(`H2: 230 channels: ${answer.status}, peak of any process ${service.peakMb()} MB`);
    expect(answer.status).toBe(415);
    expect(service.peakMb()).toBeLessThan(700);
  });

  it("of a megabyte is not read without a token, and not checked with one", async () => {
    const wrong = `{"name":1,"tags":[${"0,".repeat(450_000)}0]}`;
    const sent = [
      service.call("POST", "/console/api/login/", undefined, wrong),
      service.call("POST", "/api/v1/devices/", attacker.token, wrong),
    ];
    await pause(50);
    const { ms } = await service.call("GET", "/api/v1/devices/", victim.token);
    const [login, device] = await Promise.all(sent);
    console.log(`H7: another organization's call took ${ms} ms, the answers have ${device?.text.length} bytes at most`);
    expect([login?.status, device?.status]).toEqual([413, 413]);
    expect(device?.text.length).toBeLessThan(2000);
  });

  it("of random orderings is refused, and leaves no prepared statement behind", async () => {
    const fields = ["uid", "-uid", "name", "-name", "created_at", "-created_at"];
    const random = Array.from({ length: 300 }, (_, index) => fields[((index * 7 + index / 6) % fields.length) | 0]);
    const answer = await service.call("GET", `/api/v1/devices/?ordering=${random.join(",")}`, attacker.token);
    expect([answer.status, Object.keys((answer.body.errors ?? {}) as object)]).toEqual([400, ["ordering"]]);
  });
});

// Before the guesses at passwords: their address can log in no more for a while.
describe("an invitation", () => {
  it("of an administrator who was removed lets nobody in", async () => {
    const party = await service.makeParty("left", "--feature", "managed_onboarding");
    const [email, password] = ["leaving@example.org", "correct horse battery"];
    await service.makePerson(party, "owner@example.org", "OWNER", password);
    await service.makePerson(party, email, "ADMIN", password);
    const session = await service.call("POST", "/console/api/login/", undefined, { email, password });
    const invitation = { email: "friend@example.org", role: "ADMIN" };
    const invitations = "/api/v1/organizations/invitations/";
    const invited = await service.call("POST", invitations, session.body.access_token as string, invitation);
    expect(invited.status).toBe(201);
    const link = await linkIn(invitation.email);
    const { id } = session.body.user as { id: string };
    const owner = await service.call("POST", "/console/api/login/", undefined, {
      email: "owner@example.org",
      password,
    });
    const removed = await service.call("DELETE", `/api/v1/auth/users/${id}/`, owner.body.access_token as string);
    expect(removed.status).toBe(204);
    const accepted = await service.call("POST", "/console/api/accept/", undefined, { token: link, password });
    console.log(`M6: the invitation as ADMIN of a removed ADMIN: ${accepted.status} ${accepted.text.slice(0, 80)}`);
    expect([accepted.status, accepted.body.code]).toEqual([409, "invitation_not_pending"]);
  });

  /** The token of the link in the mail to the address; without a mail server, mails are files. */
  const linkIn = (address: string): Promise<string> =>
    vi.waitFor(
      async () => {
        const folder = join(service.dataDir, "mail");
        const files = (await readdir(folder)).filter((name) => name.endsWith(".eml"));
        const mails = await Promise.all(
          files.map(async (name) => PostalMime.parse(await readFile(join(folder, name)))),
        );
        const mail = mails.find(({ to }) => to?.[0]?.address === address);
        return (/token=([\w-]+)/.exec(mail?.text ?? "") as RegExpExecArray)[1] as string;
      },
      { timeout: 20_000, interval: 100 },
    );
});

describe("a password", () => {
  it("is not found by the fortieth of 150 guesses that come at once", async () => {
    const [email, password] = ["nurse@example.org", "correct horse battery"];
    await service.makePerson(victim, email, "USER", password);
    // All are connected before the first one guesses: then none is late.
    const sockets = await Promise.all(Array.from({ length: 150 }, openHttp));
    const answers = sockets.map((socket, index) => {
      const body = JSON.stringify({ email, password: index === 39 ? password : `wrong guess ${index}` });
      const head = `POST /console/api/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
      socket.write(`${head}\r\nConnection: close\r\n\r\n${body}`);
      return text(socket);
    });
    const statuses = (await Promise.all(answers)).map((answer) => Number(answer.slice(9, 12)));
    const count = (wanted: number): number => statuses.filter((status) => status === wanted).length;
    console.log(`M3: ${count(401)} guesses were wrong, ${count(429)} too many, ${count(200)} let in`);
    expect(statuses[39]).toBe(429);
    expect(count(401)).toBeLessThanOrEqual(10);
    expect(count(401) + count(429)).toBe(150);
  });

  it("that was forgotten is reset by mail, and one that was told is changed", async () => {
    const forgot = await service.call("POST", "/console/api/password/forgot/", undefined, {
      email: "nobody@example.org",
    });
    expect(forgot.status).toBe(202);
    expect((await service.call("POST", "/console/api/password/", undefined, {})).status).toBe(401);
  });
});

async function openHttp(): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(service.http).port) });
  await once(socket, "connect");
  return socket.on("error", () => undefined);
}

/** Announces a megabyte and sends a byte of it. */
async function openSlowUpload(uid: string, token: string): Promise<Socket> {
  const socket = await openHttp();
  socket.write(
    `POST /api/v1/devices/${uid}/messages/upload-voice/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n` +
      "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n\r\n-",
  );
  return socket.resume();
}

describe("recordings that one organization sends", () => {
  it("keep no place from another's: of twenty that never end, none delays it", async () => {
    const [slow, quick] = [await service.register(attacker), await service.register(victim)];
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSlowUpload(slow, attacker.token)));
    await pause(500);
    const startedMs = performance.now();
    const status = await uploadVoice(victim, quick, fixture("voice.mp3")).catch(() => "no answer");
    for (const socket of sockets) socket.destroy();
    console.log(`M12: another organization's upload: ${status} after ${Math.round(performance.now() - startedMs)} ms`);
    expect(status).toBe(201);
  });

  async function uploadVoice({ token }: Party, uid: string, file: Buffer): Promise<number> {
    const { payload, contentType } = multipart({ file });
    const answer = await fetch(`${service.http}/api/v1/devices/${uid}/messages/upload-voice/`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": contentType },
      body: new Uint8Array(payload),
      signal: AbortSignal.timeout(20_000),
    });
    return answer.status;
  }
});

describe("the numbers that a watch calls", () => {
  it("are hidden from those who may read commands alone", async () => {
    const uid = await service.register(victim);
    const command = { command_type: "set_sos_numbers", params: { numbers: ["+390698765432"] } };
    const sent = await service.call("POST", `/api/v1/devices/${uid}/commands/`, victim.token, command);
    expect(sent.status).toBe(201);
    const reader = await service.tokenWith(victim, "commands:read,devices:read");
    const seen = await service.call("GET", `/api/v1/devices/${uid}/commands/`, reader);
    expect(seen.body.results).toMatchObject([{ command_type: "set_sos_numbers", params: { redacted: true } }]);
    expect(seen.text).not.toContain("98765432");
  });
});

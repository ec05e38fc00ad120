import { randomUUID } from "node:crypto";
import { opusFile } from "../support/hostile-audio.ts";
import { multipart } from "../support/voice-upload.ts";

const parallelSearches = 40;
const parallelUploads = 4;

/** Where the callers of an attack are, and what a hostile organization has of its own. */
export interface HostileParty {
  http: string;
  /** A valid token of the hostile organization. */
  token: string;
  /** A device of the hostile organization. */
  uid: string;
  signal: AbortSignal;
}

/** Counts answers by status, so that a run can show that the attacks were really heard. */
export type Heard = Map<string, number>;

/** Calls from outside and from a partner that means harm: bodies, searches over history, recordings that decode to gigabytes. */
export function startCallers(party: HostileParty, heard: Heard, only?: string): Promise<unknown> {
  const { http, token, uid, signal } = party;
  const repeat = (name: string, call: () => Promise<Response>): Promise<void> =>
    repeatUntil(signal, async () => {
      const { status } = await call();
      heard.set(`${name} ${status}`, (heard.get(`${name} ${status}`) ?? 0) + 1);
    });
  const json = { "content-type": "application/json" };
  const own = { authorization: `Bearer ${token}` };
  const wrongBody = `{"email":[${"0,".repeat(30_000)}0],"password":{}}`;
  const wrongTags = `{"name":1,"tags":[${"0,".repeat(450_000)}0]}`;
  const history = `${http}/api/v1/devices/${uid}/telemetry/?search=zq`;
  const callers: Record<string, () => Promise<void>[]> = {
    bodies: () => [
      repeat("body without token", () =>
        fetch(`${http}/o/token/`, { method: "POST", body: wrongBody, headers: json, signal }),
      ),
      repeat("search without token", () =>
        fetch(`${http}/api/v1/events/?search=${"a".repeat(2000)}`, {
          headers: { authorization: `Bearer ${randomUUID()}` },
          signal,
        }),
      ),
      repeat("body with token", () =>
        fetch(`${http}/api/v1/devices/`, { method: "POST", body: wrongTags, headers: { ...json, ...own }, signal }),
      ),
    ],
    searches: () =>
      Array.from({ length: parallelSearches }, () =>
        repeat("search of history with token", () => fetch(history, { headers: own, signal })),
      ),
    recordings: () =>
      Array.from({ length: parallelUploads }, () =>
        repeat("recording of 230 channels", () => {
          const { payload, contentType } = multipart({ file: opusFile(230), fileName: "voice.opus" });
          const headers = { ...own, "content-type": contentType, "idempotency-key": randomUUID() };
          return fetch(`${http}/api/v1/devices/${uid}/messages/upload-voice/`, {
            method: "POST",
            body: payload,
            headers,
            signal,
          });
        }),
      ),
  };
  const started = Object.entries(callers).filter(([name]) => only === undefined || only === name);
  return Promise.all(started.flatMap(([, start]) => start()));
}

async function repeatUntil(signal: AbortSignal, call: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await call().catch(() => undefined);
    await new Promise((done) => setTimeout(done, 20));
  }
}

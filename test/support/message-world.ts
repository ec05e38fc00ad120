import { vi } from "vitest";
import { Listener } from "../../src/db/listener.ts";
import { type Clock, makeClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { startSpeechWorker } from "../../src/resources/messages/speech-worker.ts";
import type { VoiceTools } from "../../src/resources/messages/voice-tools.ts";
import type { TestAnswer } from "./api.ts";
import { testCatalog } from "./catalog.ts";
import { type CommandWorld, openCommandWorld } from "./command-world.ts";

/** The API and gateways on one database, and what waits to be spoken is spoken by whoever the test names. */
export interface MessageWorld extends CommandWorld {
  sendText(uid: string, text: string): Promise<string>;
  sendTts(uid: string, text: string): Promise<string>;
  message(uid: string, id: string): Promise<TestAnswer["body"]>;
  /** Waits until the message has the status, and returns it. */
  untilStatus(uid: string, id: string, status: string): Promise<TestAnswer["body"]>;
  inbound(uid: string): Promise<TestAnswer["body"][]>;
  /** What partners were told of the device's messages. */
  outboundOf(uid: string): Promise<{ type: string; occurred_at: string; data: Record<string, unknown> }[]>;
  speech(speak: VoiceTools["speak"]): { close(): Promise<void> };
}

/** The world with one gateway, and where watches find it. */
export interface SpokenWorld {
  world: MessageWorld;
  port: number;
  /** The one watch of its protocol: neighbouring IMEIs have the same short id. */
  seTracker: string;
}

export async function openSpokenWorld(clock: Clock): Promise<SpokenWorld> {
  const world = await openMessageWorld(clock);
  const { address } = await world.openGateway();
  return { world, port: address.port, seTracker: await world.device("watch-generic") };
}

export async function openMessageWorld(clock: Clock = makeClock()): Promise<MessageWorld> {
  const world = await openCommandWorld(clock);
  const { api } = world;
  const { token } = world.integration;
  const path = (uid: string): string => `/api/v1/devices/${uid}/messages/`;
  const send = async (uid: string, call: string, body: object): Promise<string> => {
    const answer = await api.call("POST", `${path(uid)}${call}/`, { token, body });
    if (answer.status !== 201) throw new Error(`refused: ${answer.text}`);
    return answer.body.id;
  };
  const message: MessageWorld["message"] = async (uid, id) =>
    (await api.call("GET", `${path(uid)}${id}/`, { token })).body;
  return {
    ...world,
    sendText: (uid, text) => send(uid, "send-text", { text }),
    sendTts: (uid, text) => send(uid, "send-tts", { text }),
    message,
    untilStatus: async (uid, id, status) => {
      let last: TestAnswer["body"];
      await vi
        .waitUntil(
          async () => {
            last = await message(uid, id);
            return last.device_delivery_status === status;
          },
          { timeout: 15_000, interval: 20 },
        )
        .catch(() => {
          throw new Error(`not ${status}: ${JSON.stringify(last)}`);
        });
      return last;
    },
    inbound: async (uid) =>
      (await api.call("GET", `${path(uid)}?direction=inbound&ordering=ts`, { token })).body.results,
    outboundOf: async (uid) => {
      const rows = await api.db.many<{ body: string }>`
        select body from outbound_events where device_uid = ${uid} and type like 'message.%' order by id`;
      return rows.map(({ body }) => JSON.parse(body));
    },
    speech: (speak) => {
      const log = makeLogger("silent");
      const listener = new Listener(api.db, log);
      const catalog = testCatalog();
      return startSpeechWorker({ db: api.db, clock, log, listener, catalog, voice: { speak }, pollMs: 20 });
    },
  };
}

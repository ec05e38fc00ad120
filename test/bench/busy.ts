import { setPriority } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type pg from "pg";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { fillLog } from "../support/log-rows.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";
import { wavFile } from "../support/voice-samples.ts";
import { multipart } from "../support/voice-upload.ts";
import { type ConnectedDevices, connectDevices } from "./load-process.ts";
import { makeCertificates, openReceiverProcess, runBare } from "./receiver-process.ts";
import { median, type Row } from "./report.ts";
import { undisturbed } from "./undisturbed.ts";

const devices = 1000;
const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    /** What is measured: client, conversions, webhooks. */
    only: { type: "string", default: "client,conversions,webhooks" },
    /** Packets a second; half of what the service takes unless given. At a lower rate p99 is steadier, and a delay shows sooner. */
    rate: { type: "string" },
    /** 3: gateway, API and worker each in a process of its own. */
    processes: { type: "string", default: "1" },
  },
  strict: false,
});
const rounds = options.quick ? 3 : 9;
const wanted = new Set((options.only as string).split(","));
const roundMs = 5000;
/** Deliveries that wait at the beginning of a round, more than one can make. */
const backlog = 100_000;
const inFlight = 32;
/** A tenant has one process of audio at a time: so many keep all of them busy. */
const speakers = 3;
const firstUid = 860_000_000_000_000;
const firstSpeakerUid = 861_000_000_000_000;

/** What the machine does beside ingest. Ends with what it has done. */
type Busy = () => { stop(): Promise<number> };

/**
 * The time of a device's answer at half load while the same process pushes a backlog of webhooks, or converts recordings, against
 * the same without. A bare client that posts to the same receiver shows what two busy cores alone take. Receiver, bare client and
 * the bench itself are on other machines in real life, so they have the lowest priority here; the devices have the usual one. Not a
 * ratio counts here but the difference: at most 5 ms at p99.
 */
export async function benchBusy(): Promise<Row[]> {
  const folder = await tempFolder();
  await makeCertificates(folder.path);
  const caFile = join(folder.path, "ca.pem");
  const receiver = await openReceiverProcess(folder.path, { isElsewhere: true });
  const where = ["--data-dir", folder.path];
  const env = {
    VIGIL_LOG_LEVEL: "warn",
    VIGIL_PROCESSES: options.processes as string,
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_GATEWAY_PACKETS_PER_MINUTE: "1000000",
    VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE: "1000000",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: caFile,
  };
  const service = await startVigil(where, env);
  try {
    return await withEmbedded(folder.path, async (client) => {
      await vigilJson(["org", "create", "--name", "Busy", "--slug", "busy", ...where], env);
      const hook = ["--org", "busy", "--name", "Busy", "--webhook-url", receiver.url("/busy")];
      const { id } = await vigilJson<{ id: string }>(["integration", "create", ...hook, ...where], env);
      const upload = await makeUploads(service, client, where);
      await registerFleet(client, devices, firstUid);
      const connected = await connectDevices(Number(service.gateway.split(":").at(-1)), devices);
      setPriority(19);
      await connected.run(roundMs, 0);
      const half = options.rate === undefined ? (await connected.run(roundMs, 0)).perSecond / 2 : Number(options.rate);
      const rate = Math.round(half);
      const measure = (): Promise<number> => p99Of(connected, rate);
      const repeat = (work: () => Promise<number>): Busy => {
        return () => {
          let isOver = false;
          const working = (async () => {
            let done = 0;
            while (!isOver) done += await work();
            return done;
          })();
          return {
            stop: () => {
              isOver = true;
              return working;
            },
          };
        };
      };
      const besides: Record<string, Busy> = {};
      if (wanted.has("client")) {
        besides["a bare client of the same receiver"] = repeat(async () => {
          await runBare(receiver.url("/bare"), caFile, 5000, inFlight, { isElsewhere: true });
          return 5000;
        });
      }
      if (wanted.has("conversions")) besides["conversions of recordings"] = repeat(upload);
      const times: Record<string, { alone: number[]; beside: number[]; done: number[] }> = {};
      const note = (what: string, alone: number, beside: number, done: number): void => {
        times[what] ??= { alone: [], beside: [], done: [] };
        times[what].alone.push(alone);
        times[what].beside.push(beside);
        times[what].done.push(done);
      };
      for (let round = 0; round < rounds; round++) {
        for (const [what, begin] of Object.entries(besides)) {
          const alone = await measure();
          const { stop } = begin();
          const beside = await measure();
          note(what, alone, beside, await stop());
        }
      }
      // Last, because a backlog cannot be stopped: all rounds are beside the same one, after as many without.
      const before: number[] = [];
      if (wanted.has("webhooks")) {
        for (let round = 0; round < rounds; round++) before.push(await measure());
        await fillLog(client, id, backlog);
        await client.query("checkpoint");
      }
      for (const alone of before) {
        const { count } = await receiver.stats("/busy");
        const beside = await measure();
        note("a backlog of webhooks", alone, beside, (await receiver.stats("/busy")).count - count);
        if ((await receiver.stats("/busy")).count >= backlog) break;
      }
      await connected.close();
      return Object.entries(times).map(([what, { alone, beside, done }]) => {
        const differences = beside.map((value, index) => value - (alone[index] as number));
        const texts = differences.map((value) => value.toFixed(1)).join(", ");
        console.log(
          `  beside ${what}, ${(median(done) / (roundMs / 1000)).toFixed(0)} a second: p99 later by ${median(differences).toFixed(1)} ms (${texts})`,
        );
        return {
          what: `p99 of the answer at ${rate} packets/s beside ${what}, against alone`,
          ours: median(beside),
          bare: median(alone),
          unit: "ms",
          ratios: beside.map((value, index) => value / (alone[index] as number)),
        };
      });
    });
  } finally {
    await service.kill("SIGTERM");
    receiver.child.kill();
    await folder.remove();
  }
}

const p99Of = async (connected: ConnectedDevices, rate: number): Promise<number> =>
  (await undisturbed(() => connected.run(roundMs, rate))).p99;

/** Uploads a recording to a watch of each of some organizations. */
async function makeUploads(
  { http }: RunningVigil,
  client: pg.Client,
  where: readonly string[],
): Promise<() => Promise<number>> {
  const targets: { token: string; uid: string }[] = [];
  for (let n = 0; n < speakers; n++) {
    const [uid = ""] = await registerFleet(client, 1, firstSpeakerUid + n);
    const { rows } = await client.query(
      "select o.slug from organizations o join devices d on d.organization_id = o.id where d.uid = $1",
      [uid],
    );
    const options = ["--org", rows[0].slug, "--name", "Voice", ...where];
    const credentials = await vigilJson<Credentials>(["integration", "create", ...options]);
    targets.push({ token: await fetchTokenOf(http, credentials), uid });
  }
  const file = wavFile(30, 8000);
  const upload = async ({ token, uid }: { token: string; uid: string }): Promise<void> => {
    const { payload, contentType } = multipart({ file });
    const answer = await fetch(`${http}/api/v1/devices/${uid}/messages/upload-voice/`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": contentType },
      body: new Uint8Array(payload),
    });
    if (answer.status !== 201) throw new Error(`a recording was refused: ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  return async () => {
    await Promise.all(targets.map(upload));
    return targets.length;
  };
}

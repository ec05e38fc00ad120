import { listPoisoned } from "../ingest/poison-store.ts";
import { isImei } from "../lib/ids.ts";
import { retryPoisoned } from "../roles/poisoned-retry.ts";
import { type Arguments, type Command, type Option, UsageError } from "./command.ts";
import { withCurrentDatabase, withDatabase } from "./command-database.ts";
import { table } from "./output.ts";

/** More than a look can take in, and less than memory. */
const maxPackets = 10_000;
const shownHex = 40;

const uidOption: Option = { name: "uid", value: "UID", summary: "only those of the device with this IMEI" };

function givenUid(args: Arguments): string | undefined {
  const uid = args.value("uid");
  if (uid !== undefined && !isImei(uid)) throw new UsageError(`--uid must be an IMEI of 15 digits, not "${uid}"`);
  return uid;
}

const list: Command = {
  path: ["device", "poisoned", "list"],
  summary: "List packets that could not be stored and were set aside",
  positionals: [],
  options: [uidOption],
  examples: ["vigil device poisoned list", "vigil device poisoned list --uid 490154203237518 --json"],
  next: ["vigil device poisoned retry, after an update of Vigil"],
  run: async (context) => {
    const uid = givenUid(context.args);
    const packets = (await withCurrentDatabase(context, (db) => listPoisoned(db, uid, maxPackets))).map((one) => ({
      id: one.id,
      uid: one.uid,
      protocol: one.protocol,
      received_at: one.receivedAt,
      reason: one.reason,
      frame_hex: one.frame.toString("hex"),
    }));
    const rows = packets.map((one) => [
      one.uid ?? "-",
      one.protocol,
      one.received_at.toISOString(),
      one.reason,
      one.frame_hex.length > shownHex ? `${one.frame_hex.slice(0, shownHex)}…` : one.frame_hex,
    ]);
    const text = table(["uid", "protocol", "received_at", "reason", "frame"], rows);
    context.print(packets, rows.length === 0 ? "No packets were set aside." : text);
    return 0;
  },
};

const retry: Command = {
  path: ["device", "poisoned", "retry"],
  summary: "Store packets that were set aside, with the program as it is now",
  positionals: [],
  options: [uidOption],
  examples: ["vigil device poisoned retry", "vigil device poisoned retry --uid 490154203237518 --json"],
  next: ["vigil device poisoned list shows those that failed again."],
  run: async (context) => {
    const uid = givenUid(context.args);
    const { clock, log, config } = context;
    const document = await withDatabase(context, async (db) => {
      const onFailure = (packet: { id: string; uid: string | null }, reason: string): void =>
        context.note(`vigil: packet ${packet.id} of ${packet.uid ?? "a deleted device"} failed again: ${reason}`);
      return retryPoisoned({ db, clock, log, config, onFailure }, await listPoisoned(db, uid, maxPackets));
    });
    const { retried, stored, failed } = document;
    context.print(document, `Tried ${retried} packet(s): ${stored} stored, ${failed} failed again.`);
    return 0;
  },
};

export const poisonedCommands: readonly Command[] = [list, retry];

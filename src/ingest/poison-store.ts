import type { Client } from "pg";
import type { Db } from "../db/database.ts";
import { uuidV7 } from "../lib/ids.ts";
import type { Packet } from "./packet.ts";

/** Keeps the bytes of a packet that no attempt could store. The reason names the kind of error, never a value of a person. */
export async function keepPoisoned(client: Client, packet: Packet, reason: string): Promise<void> {
  const { hold, protocol, frame, receivedAtMs } = packet;
  await client.query({
    name: "ingest_poison",
    text: `insert into poisoned_packets (id, organization_id, device_id, protocol, reason, frame, received_at)
      values ($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      uuidV7(receivedAtMs),
      hold.device.organizationId,
      hold.device.id,
      protocol,
      reason,
      frame.raw,
      new Date(receivedAtMs),
    ],
  });
}

export const deleteOldPoisoned = (db: Db, before: Date): Promise<number> =>
  db.run`delete from poisoned_packets where received_at < ${before}`;

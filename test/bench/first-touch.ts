import type pg from "pg";
import type { ConnectedDevices } from "./load-process.ts";

/** Of a device that sends a packet a minute. */
const packetsPerDay = 1440;
const turns = 16;

/**
 * PostgreSQL writes a page to its log as a whole when it changes for the first time after a checkpoint. Devices of a fleet have pages
 * of their own, so that a packet after a long silence costs several of them. Gives every device the rows of a day, and returns what
 * its first, second … packet after a checkpoint writes beyond one whose pages have all been changed: bytes a packet.
 */
export async function measureFirstTouch(
  client: pg.Client,
  fleet: ConnectedDevices,
  devices: number,
): Promise<number[]> {
  const position = async (): Promise<number> => {
    const { rows } = await client.query<{ at: number }>(
      "select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as at",
    );
    return rows[0]?.at ?? 0;
  };
  /** A packet of each device. */
  const turn = async (): Promise<number> => {
    const before = await position();
    await fleet.run(1000, devices);
    return (await position()) - before;
  };
  await turn();
  for (const table of ["locations", "telemetry"]) {
    await repeatRows(client, table, { id: "gen_random_uuid()", ts: "ts - n * interval '1 minute'" });
  }
  await repeatRows(client, "ingest_frames", { frame_key: "gen_random_uuid()" });
  await client.query("checkpoint");
  const after: number[] = [];
  for (let count = 0; count < turns; count++) after.push(await turn());
  // So many packets that every page has been changed.
  await fleet.run(4000, 0);
  const usual = (await turn()) / 2 + (await turn()) / 2;
  return after.map((bytes) => Math.max(0, Math.round((bytes - usual) / devices)));
}

/** Each row of the table so many times more, with some of its columns different. */
async function repeatRows(client: pg.Client, table: string, changed: Record<string, string>): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_name = $1 and is_generated = 'NEVER'",
    [table],
  );
  const names = rows.map(({ name }) => name);
  await client.query(
    `insert into ${table} (${names.join(", ")})
     select ${names.map((name) => changed[name] ?? name).join(", ")} from ${table}, generate_series(1, ${packetsPerDay}) as n`,
  );
}

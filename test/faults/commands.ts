import { randomUUID } from "node:crypto";
import type pg from "pg";
import { freeLowPort } from "../support/free-port.ts";
import { fetchTokenOf, makeCredentials, type RunningVigil, startVigil, tempFolder } from "../support/vigil-process.ts";
import { CommandedWatch, type Manner } from "./commanded-watch.ts";
import type { FaultOptions } from "./faults.ts";
import { makeRandom } from "./random.ts";
import { openServedDatabase } from "./served-database.ts";

const manners: readonly Manner[] = ["prompt", "prompt", "late", "moody", "moody", "silent", "away"];
const watches = 28;
const postsPerRound = 24;
/** Written a second time without an answer, and never so. */
const repeated = ["locate_now", "test_heart_rate", "test_temperature"];
const single = ["restart", "power_off", "factory_reset"];
/** When the service is killed: as soon as a command is seen in the state, or at any moment. */
const moments = ["pending", "sending", "sent", "attempts 2", "ack_ok", "timeout", "any"] as const;

interface Posted {
  key: string;
  uid: string;
  type: string;
  /** Undefined until the service has said it. */
  id: string | undefined;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/**
 * Watches that answer, answer late, or not, get commands while the service is killed with -9 in every state of a command. Each
 * command must end once, be told once, and never be written more often than its type allows.
 */
export async function commandFaults({ rounds, seed, citusBin }: FaultOptions): Promise<boolean> {
  const random = makeRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const folder = await tempFolder();
  const where = ["--data-dir", folder.path];
  const database = await openServedDatabase(folder.path, citusBin);
  const env = {
    ...database.env,
    VIGIL_LOG_LEVEL: process.env.VIGIL_LOG_LEVEL ?? "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_COMMAND_ACK_TIMEOUT_SECONDS: "2",
  };
  const [port, httpPort] = [await freeLowPort(), await freeLowPort()];
  const again = (): Promise<RunningVigil> => startVigil([...where, "--gateway-port", port, "--port", httpPort], env);
  let service = await again();
  const token = await fetchTokenOf(service.http, await makeCredentials(where, env));
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const fleet: CommandedWatch[] = [];
  for (let index = 0; index < watches; index++) {
    const uid = String(490_154_300_000_000 + index);
    const body = JSON.stringify({ uid, device_model_slug: "iw-h10" });
    const answer = await fetch(`${service.http}/api/v1/devices/`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(`no device: ${await answer.text()}`);
    fleet.push(new CommandedWatch(uid, manners[index % manners.length] as Manner, () => Number(port), random));
  }
  await database.with(watchTransitions);
  const posted: Posted[] = [];

  /** Sends a command until the service has answered; a key makes it one command however often that is. */
  const post = async (one: Posted): Promise<void> => {
    const body = JSON.stringify({ command_type: one.type, expires_in: 20 });
    for (let attempt = 0; attempt < 200; attempt++) {
      try {
        const answer = await fetch(`http://127.0.0.1:${httpPort}/api/v1/devices/${one.uid}/commands/`, {
          method: "POST",
          headers: { ...headers, "Idempotency-Key": one.key },
          body,
        });
        if (answer.status === 201) {
          one.id = ((await answer.json()) as { command_uuid: string }).command_uuid;
          return;
        }
        if (answer.status === 429 && ((await answer.json()) as { code: string }).code === "command_queue_full") return;
      } catch {
        // The service is down.
      }
      await pause(100);
    }
    throw new Error("a command could not be posted");
  };

  try {
    for (let round = 1; round <= rounds; round++) {
      const batch = Array.from({ length: postsPerRound }, () => ({
        key: randomUUID(),
        uid: pick(fleet).uid,
        type: pick(random() < 0.5 ? repeated : single),
        id: undefined,
      }));
      posted.push(...batch);
      const posting = Promise.all(batch.map(async (one) => pause(random() * 1500).then(() => post(one))));
      const moment = moments[(round - 1) % moments.length] as (typeof moments)[number];
      const seen = await database.with((client) => untilSeen(client, moment, random));
      await service.kill("SIGKILL");
      console.log(`  round ${round}: killed at "${moment}"${seen ? "" : ", which was not seen"}`);
      await pause(random() * 1000);
      service = await again();
      await posting;
    }
    return await database.with((client) => verify(client, fleet, posted));
  } catch (error) {
    console.error(service.stderr().slice(-4000));
    throw error;
  } finally {
    for (const watch of fleet) watch.close();
    await service.kill("SIGTERM");
    await database.close();
    await folder.remove();
  }
}

/** Keeps every change of a status, and makes the state that lasts for microseconds last long enough to be killed in. */
async function watchTransitions(client: pg.Client): Promise<void> {
  await client.query(`
    create table command_moves (id uuid, was text, is_now text, at timestamptz default clock_timestamp());
    create function note_move() returns trigger language plpgsql as $$
    begin
      if new.status is distinct from old.status then
        insert into command_moves (id, was, is_now) values (new.id, old.status, new.status);
      end if;
      return new;
    end $$;
    create function linger() returns trigger language plpgsql as $$
    begin
      perform pg_sleep(random() * 0.1);
      return new;
    end $$;
    create trigger note_move after update on commands for each row execute function note_move();
    create trigger linger before update on commands for each row
      when (old.status = 'sending' and new.status = 'sent' and new.node_id is not null) execute function linger();`);
}

async function untilSeen(client: pg.Client, moment: string, random: () => number): Promise<boolean> {
  if (moment === "any") {
    await pause(random() * 3000);
    return true;
  }
  const isFinal = moment === "ack_ok" || moment === "timeout";
  const since = (await client.query<{ now: Date }>("select clock_timestamp() as now")).rows[0]?.now;
  for (const limit = Date.now() + 8000; Date.now() < limit; await pause(5)) {
    const { rows } = isFinal
      ? await client.query("select 1 from command_moves where is_now = $1 and at > $2 limit 1", [moment, since])
      : moment === "attempts 2"
        ? await client.query("select 1 from commands where status in ('sending', 'sent') and attempts = 2 limit 1")
        : await client.query("select 1 from commands where status = $1 limit 1", [moment]);
    if (rows.length > 0) return true;
  }
  return false;
}

const allowedMoves = new Set(
  "pending>sending sending>sent sending>ack_ok sent>ack_ok sending>ack_error sent>ack_error sending>timeout sent>timeout pending>timeout".split(
    " ",
  ),
);

interface Row {
  id: string;
  uid: string;
  serial: string;
  type: string;
  status: string;
  attempts: number;
  outbound_types: string[];
  /** Status, or the code of the error. */
  end: string;
}

async function verify(
  client: pg.Client,
  fleet: readonly CommandedWatch[],
  posted: readonly Posted[],
): Promise<boolean> {
  const open = async (): Promise<number> =>
    Number(
      (await client.query("select count(*) from commands where status in ('pending', 'sending', 'sent')")).rows[0]
        .count,
    );
  for (const limit = Date.now() + 150_000; (await open()) > 0; await pause(500)) {
    if (Date.now() > limit) throw new Error(`${await open()} commands never end`);
  }
  const { rows } = await client.query<Row>(`
    select c.id, d.uid, lpad((c.number % 500000)::text, 6, '0') as serial, c.command_type as type, c.status, c.attempts,
      coalesce(c.error->>'code', c.status) as end,
      array(select o.type from outbound_events o where o.body::jsonb->'data'->>'command_uuid' = c.id::text) as outbound_types
    from commands c join devices d on d.id = c.device_id`);
  const moves = await client.query<{ id: string; move: string; finals: string }>(`
    select id, string_agg(was || '>' || is_now, ' ' order by at) as move,
      count(*) filter (where is_now in ('ack_ok', 'ack_error', 'timeout')) as finals
    from command_moves group by id`);
  const byId = new Map(moves.rows.map((row) => [row.id, row]));
  const problems: string[] = [];
  const accepted = posted.filter(({ id }) => id !== undefined);
  const known = new Set(rows.map(({ id }) => id));
  for (const { id } of accepted) if (!known.has(id as string)) problems.push(`${id} was accepted and is lost`);
  if (rows.length !== new Set(accepted.map(({ id }) => id)).size) {
    problems.push(`${rows.length} commands of ${accepted.length} accepted posts`);
  }
  for (const row of rows) {
    const watch = fleet.find(({ uid }) => uid === row.uid);
    const received = watch?.received.get(row.serial) ?? 0;
    const maxWrites = single.includes(row.type) ? 1 : 2;
    const { move = "", finals = "0" } = byId.get(row.id) ?? {};
    const name = `${row.type} ${row.id} (${watch?.manner})`;
    if (received > maxWrites || row.attempts > maxWrites)
      problems.push(`${name} was written ${received} times, ${row.attempts} attempts`);
    if (received > row.attempts) problems.push(`${name} was heard ${received} times of ${row.attempts} attempts`);
    const expectedType = row.status === "ack_ok" ? "command.ack" : "command.failed";
    if (row.outbound_types.length !== 1 || row.outbound_types[0] !== expectedType)
      problems.push(`${name} is ${row.status}, told ${row.outbound_types}`);
    if (finals !== "1") problems.push(`${name} has ended ${finals} times: ${move}`);
    for (const one of move.split(" ")) if (!allowedMoves.has(one)) problems.push(`${name} moved ${one}`);
    if (row.status === "ack_ok" && !watch?.answered.has(row.serial))
      problems.push(`${name} is ack_ok without an answer`);
  }
  const counts = ["ack_ok", "ack_error", "timeout"].map(
    (one) => `${rows.filter(({ status }) => status === one).length} ${one}`,
  );
  const twice = rows.filter(({ attempts }) => attempts === 2).length;
  console.log(`  ${rows.length} commands: ${counts.join(", ")}; ${twice} written twice; ${problems.length} problems`);
  for (const manner of new Set(fleet.map((watch) => watch.manner))) {
    const own = rows.filter(({ uid }) => fleet.find((watch) => watch.uid === uid)?.manner === manner);
    const ends = new Map<string, number>();
    for (const { type, end } of own) {
      const name = single.includes(type) ? `${end} (once)` : end;
      ends.set(name, (ends.get(name) ?? 0) + 1);
    }
    console.log(`    ${manner}: ${[...ends].map(([end, count]) => `${count} ${end}`).join(", ")}`);
  }
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  return problems.length === 0;
}

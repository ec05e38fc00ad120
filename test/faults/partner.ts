import type pg from "pg";
import { webhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { eventTypes } from "../../src/resources/events/event-types.ts";
import { registerFleet } from "../support/fleet.ts";
import type { Receiver } from "../support/receiver.ts";
import { type Credentials, fetchTokenOf, vigilJson } from "../support/vigil-process.ts";

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** One partner: an organization with devices, an integration with a webhook, and what reached it. */
export interface Partner {
  path: string;
  uids: string[];
  credentials: Credentials;
  pushed: Map<string, Envelope>;
}

export interface Envelope {
  id: string;
  type: string;
  partner_integration_id: string;
  device: { uid: string };
  data: { location_id?: string; telemetry_id?: string; event_id?: string };
}

/** `where` is how the command line reaches the database. */
export async function makePartner(
  client: pg.Client,
  where: { args: readonly string[]; env: Record<string, string> },
  receiverPort: number,
  { path, index, devices }: { path: string; index: number; devices: number },
): Promise<Partner> {
  const uids = await registerFleet(client, devices, 860_000_000_000_000 + index * 1_000_000);
  const { rows } = await client.query<{ slug: string }>(
    "select o.slug from organizations o join devices d on d.organization_id = o.id where d.uid = $1",
    [uids[0]],
  );
  const slug = rows[0]?.slug as string;
  const hook = `https://127.0.0.1:${receiverPort}${path}`;
  const options = ["--org", slug, "--name", path, "--webhook-url", hook, ...where.args];
  return {
    path,
    uids,
    credentials: await vigilJson(["integration", "create", ...options], where.env),
    pushed: new Map(),
  };
}

/** Notes what has reached the receiver since the last look. */
export function collectPushed(receiver: Receiver, partners: readonly Partner[]): void {
  for (const call of receiver.calls.splice(0)) {
    const partner = partners.find(({ path }) => call.path === `POST ${path}`);
    partner?.pushed.set(call.id, JSON.parse(call.raw.toString()) as Envelope);
  }
}

/** Waits until every row of the log was pushed or parked. */
export async function settlePushes(
  client: pg.Client,
  partners: readonly Partner[],
  collect: () => void,
): Promise<void> {
  for (const { credentials, pushed, path } of partners) {
    let missing: string[] = [];
    await untilTrue(`everything is pushed to ${path}`, async () => {
      collect();
      const { rows } = await client.query<{ id: string }>(
        `select id from outbound_events e where integration_id = $1 and push_epoch is not null
         and not exists (select from dead_letters d where d.integration_id = e.integration_id and d.id = e.id)`,
        [credentials.id],
      );
      missing = rows.filter(({ id }) => !pushed.has(id)).map(({ id }) => id);
      return missing.length === 0;
    });
  }
}

/** The whole log of a partner, page by page. */
export async function replayAll(http: string, credentials: Credentials): Promise<Map<string, Envelope>> {
  const authorization = `Bearer ${await fetchTokenOf(http, credentials)}`;
  const found = new Map<string, Envelope>();
  for (let since: string | null = ""; since !== null; ) {
    const query = since === "" ? "" : `&since=${since}`;
    const url = `${http}/api/v1/partner/outbound-events/?limit=500${query}`;
    const answer = await fetch(url, { headers: { authorization } });
    const page = (await answer.json()) as { data: Envelope[]; next_cursor: string | null };
    if (answer.status !== 200) throw new Error(`replay answered ${answer.status}`);
    for (const envelope of page.data) found.set(envelope.id, envelope);
    since = page.next_cursor;
  }
  return found;
}

const outboundEventTypes = Object.values(eventTypes).flatMap(({ number, outboundType }) =>
  outboundType && !webhookEventTypes[outboundType].additive ? [number] : [],
);

/** What a partner got against what the tables say. */
export async function verifyPartner(
  client: pg.Client,
  partner: Partner,
  replayed: Map<string, Envelope>,
): Promise<boolean> {
  const union = new Map([...partner.pushed, ...replayed]);
  const ids = async (sql: string, ...more: unknown[]): Promise<string[]> =>
    (await client.query<{ id: string }>(sql, [partner.uids, ...more])).rows.map(({ id }) => id);
  const ofDevices = "device_id in (select id from devices where uid = any($1))";
  const sources = [
    ...(await ids(`select id from locations where ${ofDevices} and invalid_reason is null`)),
    ...(await ids(
      `select id from telemetry where ${ofDevices} and data ?| array['hr','sbp','dbp','spo2','temp','glucose']`,
    )),
    ...(await ids(`select id from events where ${ofDevices} and event_type = any($2)`, outboundEventTypes)),
  ];
  const sent = [...union.values()].map(({ data }) => data.location_id ?? data.telemetry_id ?? data.event_id ?? "?");
  const [sentSet, sourceSet] = [new Set(sent), new Set(sources)];
  const missing = sources.filter((id) => !sentSet.has(id)).length;
  const extra = sent.filter((id) => !sourceSet.has(id)).length;
  const doubled = sent.length - sentSet.size;
  const own = new Set(partner.uids);
  const foreign = [...union.values()].filter(
    ({ partner_integration_id, device }) => partner_integration_id !== partner.credentials.id || !own.has(device.uid),
  ).length;
  const unreplayed = [...partner.pushed.keys()].filter((id) => !replayed.has(id)).length;
  console.log(
    `  ${partner.path}: ${sources.length} in the tables, ${partner.pushed.size} pushed, ${replayed.size} replayed: ${missing} missing, ${extra} extra, ${doubled} doubled, ${foreign} of others, ${unreplayed} pushed but not replayed`,
  );
  return sources.length > 0 && missing + extra + doubled + foreign + unreplayed === 0;
}

export async function untilTrue(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  for (const limit = Date.now() + 120_000; !(await condition()); await pause(50)) {
    if (Date.now() > limit) throw new Error(`still waiting: ${what}`);
  }
}

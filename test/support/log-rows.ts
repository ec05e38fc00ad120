import type pg from "pg";
import { laneIdAt } from "../../src/outbox/lane-ids.ts";

/** Fills the log of an integration with many rows, as one transaction of packets would. Returns the ids. */
export async function fillLog(client: pg.Client, integrationId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  await client.query("begin");
  const { rows } = await client.query(
    "select lane, last_ms, last_seq, push_epoch, organization_id from outbound_lanes where integration_id = $1 for update",
    [integrationId],
  );
  const lastMs = Math.max(Number(rows[0].last_ms), Date.now());
  const lastSeq = lastMs > Number(rows[0].last_ms) ? 0 : Number(rows[0].last_seq);
  const lane = Number(rows[0].lane);
  const data = { event_id: "3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22", message: "x".repeat(380) };
  const device = { uid: "490154203237518", imei: "490154203237518" };
  for (let done = 0; done < count; done += 5000) {
    const page = Array.from({ length: Math.min(5000, count - done) }, (_, n) =>
      laneIdAt({ lane, lastMs, lastSeq: lastSeq + done + n + 1 }),
    );
    const bodies = page.map((id) =>
      JSON.stringify({
        id,
        type: "alarm.sos",
        occurred_at: new Date().toISOString(),
        partner_integration_id: integrationId,
        device,
        data,
      }),
    );
    await client.query(
      `insert into outbound_events (integration_id, id, organization_id, device_uid, type, occurred_at, push_epoch, body)
       select $1, id, $2, '490154203237518', 'alarm.sos', now(), $3, body from unnest($4::uuid[], $5::text[]) as n(id, body)`,
      [integrationId, rows[0].organization_id, rows[0].push_epoch, page, bodies],
    );
    ids.push(...page);
  }
  await client.query("update outbound_lanes set last_ms = $2, last_seq = $3 where integration_id = $1", [
    integrationId,
    lastMs,
    lastSeq + count,
  ]);
  await client.query("select pg_notify('vigil_outbound', $1)", [integrationId]);
  await client.query("commit");
  return ids;
}

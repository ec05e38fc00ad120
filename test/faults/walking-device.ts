import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import type pg from "pg";
import { iwLogin, iwPosition } from "../support/fleet.ts";

export const walkedFence = { lat: 41.9, lng: 12.5, radiusM: 150 };
export const walkerStart = 861_000_000_000_000;

/** A fence that is linked to all of the devices, as the API would make it. */
export async function fenceIn(client: pg.Client, uids: readonly string[], fence: typeof walkedFence): Promise<void> {
  const id = randomUUID();
  await client.query("begin");
  const { rows } = await client.query<{ id: string; organization_id: string }>(
    "select id, organization_id from devices where uid = any($1)",
    [uids],
  );
  const organizationId = rows[0]?.organization_id;
  await client.query(
    `insert into geofences (id, organization_id, name, description, lat, lng, radius_m, trigger_on_enter, trigger_on_exit,
       trigger_on_dwell, is_active, scope, shape_revision, search, created_at, updated_at)
     values ($1, $2, 'Home', '', $3, $4, $5, true, true, false, true, 'device', 1, 'home', now(), now())`,
    [id, organizationId, fence.lat, fence.lng, fence.radiusM],
  );
  await client.query(
    `insert into geofence_devices (geofence_id, device_id, organization_id, linked_at)
     select $1, d, $2, now() from unnest($3::uuid[]) as d`,
    [id, organizationId, rows.map((row) => row.id)],
  );
  await client.query("insert into rule_versions (organization_id, version) values ($1, 1)", [organizationId]);
  await client.query("commit");
}

/**
 * Goes in and out of the fence: two positions inside, two outside, and so on, a second of its clock apart. It is so fast that a
 * side is believed only with its second position, or a minute after the first; the event is that of the first either way.
 */
export class WalkingDevice {
  readonly uid: string;
  /** Times of the first positions on a side whose second one was acknowledged, from the second side on; outside first. */
  readonly crossings: { ts: number; isExit: boolean }[] = [];
  readonly #port: () => number;
  #socket: Socket | undefined;
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  #times: number[] = [];
  #isStopped = false;
  isIdle = true;

  constructor(uid: string, port: () => number) {
    this.uid = uid;
    this.#port = port;
    this.#connect();
  }

  /** Sent again with the same time until it is acknowledged. */
  #frame(): string {
    const n = this.#next;
    const previous = this.#times[n - 1] ?? 0;
    this.#times[n] ??= Math.max(previous + 1000, Math.floor(Date.now() / 1000) * 1000);
    const isOutside = Math.floor(n / 2) % 2 === 1;
    return iwPosition(this.#times[n] as number, walkedFence.lat + (isOutside ? 500 / 111_195 : 0), walkedFence.lng);
  }

  #acknowledged(): void {
    const side = Math.floor(this.#next / 2);
    if (this.#next % 2 === 1 && side > 0) {
      this.crossings.push({ ts: this.#times[this.#next - 1] as number, isExit: side % 2 === 1 });
    }
    this.#next++;
    this.isIdle = true;
  }

  #connect(): void {
    this.isIdle = true;
    if (this.#isStopped) return;
    const socket = connect({ host: "127.0.0.1", port: this.#port(), noDelay: true });
    this.#socket = socket;
    let text = "";
    const send = (): void => {
      if (this.#isStopped || socket.destroyed) return;
      this.isIdle = false;
      socket.write(this.#frame());
    };
    socket.on("connect", () => socket.write(iwLogin(this.uid)));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("#"); end >= 0; end = text.indexOf("#")) {
        const frame = text.slice(0, end);
        text = text.slice(end + 1);
        if (frame.startsWith("IWBP01")) {
          this.#acknowledged();
          this.#timer = setTimeout(send, 1000);
        } else if (frame.startsWith("IWBP00")) send();
      }
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearTimeout(this.#timer);
      setTimeout(() => this.#connect(), 50);
    });
  }

  stop(): void {
    this.#isStopped = true;
  }

  close(): void {
    this.#isStopped = true;
    this.#socket?.destroy();
  }
}

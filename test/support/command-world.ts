import { vi } from "vitest";
import { protocols } from "../../src/codecs/protocols.ts";
import { maintainPartitions } from "../../src/db/partitions.ts";
import { type Clock, makeClock } from "../../src/lib/clock.ts";
import type { Catalog } from "../../src/resources/catalog/catalog.ts";
import { makeCommandSweep } from "../../src/resources/commands/command-sweep.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import { openTestApi, type TestAnswer, type TestApi } from "./api.ts";
import { register } from "./devices.ts";
import { openGatewayWorld, type TestGateway } from "./gateway.ts";
import { openWireDevice, type WireDevice } from "./wire-device.ts";
import { makeIntegration, makeOrganization, type TestIntegration, type TestOrganization } from "./world.ts";

/** The API, gateways with the real protocols, and a worker's sweep that runs when it is called, on one database. */
export interface CommandWorld {
  api: TestApi;
  organization: TestOrganization;
  integration: TestIntegration;
  openGateway(options?: { ackTimeoutSeconds?: number; catalog?: Catalog }): Promise<TestGateway>;
  sweep(): Promise<void>;
  /** A registered device of the model; returns its IMEI. */
  device(model?: string): Promise<string>;
  post(uid: string, type: string, params?: object, more?: object): Promise<TestAnswer>;
  /** The id of a command that was accepted. */
  command(uid: string, type: string, params?: object, more?: object): Promise<string>;
  get(uid: string, id: string): Promise<TestAnswer["body"]>;
  /** Waits until the command has the status, and returns it. */
  until(uid: string, id: string, status: string): Promise<TestAnswer["body"]>;
  outbound(uid: string): Promise<{ type: string; data: Record<string, unknown>; occurred_at: string }[]>;
  close(): Promise<void>;
}

export async function openCommandWorld(clock: Clock = makeClock()): Promise<CommandWorld> {
  const api = await openTestApi({ clock, isPrivate: true });
  await maintainPartitions(api.db, partitionedTables, clock.nowMs());
  const gateways = await openGatewayWorld(clock);
  const organization = await makeOrganization(api);
  const integration = await makeIntegration(api, organization);
  const { token } = integration;
  // Commands wait for hours and days.
  await api.db.run`update access_tokens set expires_at = ${new Date(clock.nowMs() + 365 * 86_400_000)}`;
  // Ten apart: the short id of a watch leaves out the last digit.
  let lastImei = 490_154_207_000_000;
  const path = (uid: string): string => `/api/v1/devices/${uid}/commands/`;
  const world: CommandWorld = {
    api,
    organization,
    integration,
    openGateway: ({ ackTimeoutSeconds = 60, catalog } = {}) =>
      gateways.open({
        url: api.url,
        protocols,
        services: { commandAckTimeoutSeconds: ackTimeoutSeconds },
        ...(catalog ? { catalog } : {}),
      }),
    sweep: makeCommandSweep(api.db, clock),
    device: async (model = "iw-h10") => {
      lastImei += 10;
      const uid = String(lastImei);
      const { status } = await register(api, token, uid, { device_model_slug: model });
      if (status !== 201) throw new Error(`${uid} was not registered`);
      return uid;
    },
    post: (uid, command_type, params = {}, more = {}) =>
      api.call("POST", path(uid), { token, body: { command_type, params, ...more } }),
    command: async (uid, type, params, more) => {
      const { status, body } = await world.post(uid, type, params, more);
      if (status !== 201) throw new Error(`${type} was refused: ${JSON.stringify(body)}`);
      return body.command_uuid;
    },
    get: async (uid, id) => (await api.call("GET", `${path(uid)}${id}/`, { token })).body,
    until: async (uid, id, status) => {
      let last: TestAnswer["body"];
      await vi
        .waitUntil(
          async () => {
            last = await world.get(uid, id);
            return last.status === status;
          },
          { timeout: 10_000, interval: 10 },
        )
        .catch(() => {
          throw new Error(`not ${status}: ${JSON.stringify(last)}`);
        });
      return last;
    },
    outbound: async (uid) =>
      (
        await api.db.many<{ body: string }>`
          select body from outbound_events where device_uid = ${uid} and type like 'command.%' order by id`
      ).map(({ body }) => JSON.parse(body)),
    close: async () => {
      await gateways.close();
      await api.close();
    },
  };
  return world;
}

/** A watch that has logged in. */
export async function iwDevice(gateway: TestGateway, uid: string): Promise<WireDevice> {
  const device = await openWireDevice(gateway.address.port, "iw", `IWAP00${uid}#`);
  await device.until("IWBP00");
  return device;
}

/** The short id of a watch: digits 5 to 14 of its IMEI. */
export const watchId = (uid: string): string => uid.slice(4, 14);
const hexLength = (content: string): string => content.length.toString(16).toUpperCase().padStart(4, "0");
export const watchFrame = (uid: string, content: string): string =>
  `[3G*${watchId(uid)}*${hexLength(content)}*${content}]`;

export async function setrackerDevice(gateway: TestGateway, uid: string): Promise<WireDevice> {
  const device = await openWireDevice(gateway.address.port, "watch", watchFrame(uid, "LK"));
  await device.until(watchFrame(uid, "LK"));
  return device;
}

/** The serial that a frame of ours carries. */
export const serialIn = (frame: string): string => frame.replace("#", "").split(",")[2] ?? "";

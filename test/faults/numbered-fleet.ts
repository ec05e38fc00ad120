import { randomUUID } from "node:crypto";
import type pg from "pg";
import { terminalKeys } from "../../src/resources/devices/device-store.ts";
import type { FleetTransport } from "../../src/simulator/device-protocol.ts";
import { type FleetMember, fleetMember, fleetProtocolsOver, makeProtocols, rome } from "../../src/simulator/fleet.ts";
import { makeLinks, type OpenLink } from "../../src/simulator/link.ts";
import { makeUdpLinks } from "../../src/simulator/udp-link.ts";
import { virtualProtocols } from "../../src/simulator/virtual-protocols.ts";
import { NumberedDevice, snapshotAt } from "./numbered-device.ts";

const city = { ...rome, utcOffsetMinutes: 60 };

/** Of all protocols that have a virtual device, over the transport, in turn. */
export const membersOver = (transport: FleetTransport, count: number, first: number): FleetMember[] =>
  fleetProtocolsOver(transport).length === 0
    ? []
    : Array.from({ length: count }, (_, index) =>
        answered(fleetMember(7, first + index, "mixed", city, transport), transport),
      );

/** The same device as the first model of its protocol whose reports are answered over UDP: of others nothing can be said. */
export function answered(member: FleetMember, transport: FleetTransport): FleetMember {
  if (transport === "tcp") return member;
  const model = virtualProtocols[member.protocol]?.find(
    ({ make }) => make("udp").location(member, snapshotAt(member, 0), false).answer !== null,
  );
  return { ...member, modelSlug: model?.modelSlug ?? member.modelSlug };
}

export const iwMembers = (count: number, first: number): FleetMember[] =>
  Array.from({ length: count }, (_, index) => fleetMember(7, first + index, "iw", city));

/** A watch that is registered already. */
export const iwMember = (uid: string): FleetMember => ({ ...fleetMember(7, 1, "iw", city), imei: uid, id: uid });

/** Registers them in an organization of their own. */
export async function registerMembers(client: pg.Client, members: readonly FleetMember[]): Promise<void> {
  const organizationId = randomUUID();
  await client.query(
    `insert into organizations (id, slug, name, timezone, default_locale, features, per_minute, per_hour, created_at, updated_at)
     values ($1, $2, 'Fleet', 'UTC', 'en', '{}', 1000, 1000, now(), now())`,
    [organizationId, `fleet-${organizationId.slice(0, 8)}`],
  );
  const keys = members.map(({ imei, id, protocol }) =>
    terminalKeys(imei, { terminal_id: id === imei ? null : id, protocol_slug: protocol }),
  );
  await client.query(
    `insert into devices (id, organization_id, uid, name, device_model_slug, protocol_slug, terminal_id, terminal_key,
       terminal_default_key, timezone, tags, metadata, search, created_at, updated_at)
     select gen_random_uuid(), $1, uid, 'Device', model, protocol, terminal, key, default_key, 'UTC', '{}', '{}', uid, now(), now()
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       as d (uid, model, protocol, terminal, key, default_key)`,
    [
      organizationId,
      members.map(({ imei }) => imei),
      members.map(({ modelSlug }) => modelSlug),
      members.map(({ protocol }) => protocol),
      members.map(({ imei, id }) => (id === imei ? null : id)),
      keys.map(({ terminal_key }) => terminal_key),
      keys.map(({ terminal_default_key }) => terminal_default_key),
    ],
  );
}

export interface NumberedFleetOptions {
  /** Of the gateway, or of several: then each connection is made to any of them. */
  port: number | readonly number[];
  baseMs: number;
  random(): number;
}

/** Lets the members send over the transport. */
export function startNumbered(
  members: readonly FleetMember[],
  transport: FleetTransport,
  hasClock: boolean,
  { port, baseMs, random }: NumberedFleetOptions,
): NumberedDevice[] {
  const makeTo = transport === "udp" ? makeUdpLinks : makeLinks;
  const doors = [port].flat().map((one) => makeTo("127.0.0.1", one));
  const openLink: OpenLink = (events) => (doors[Math.floor(random() * doors.length)] as OpenLink)(events);
  const protocolOf = makeProtocols(transport);
  return members.map(
    (member) =>
      new NumberedDevice({ member, protocol: protocolOf(member), transport, openLink, hasClock, baseMs, random }),
  );
}

import type { Db } from "../db/database.ts";
import { sql } from "../db/sql.ts";
import { isImei } from "../lib/ids.ts";
import { assignmentRoleLabel } from "../resources/assignments/assignment-record.ts";
import { loadCatalog } from "../resources/catalog/catalog.ts";
import { type DeviceRow, deviceTables, toDevice } from "../resources/devices/device-record.ts";
import { findLiveDeviceAnywhere } from "../resources/devices/device-store.ts";
import { type Command, CommandError, UsageError } from "./command.ts";
import { withCurrentDatabase } from "./command-database.ts";
import { getOrganization } from "./operator.ts";
import { printPages, record } from "./output.ts";

const pageSize = 1000;

interface ListedDevice {
  org: string;
  uid: string;
  name: string;
  device_model_slug: string;
  protocol_slug: string;
  is_online: boolean;
  last_seen_at: Date | null;
  created_at: Date;
}

/** All live devices by IMEI, of one organization or of all. */
async function* devicePages(db: Db, organizationId: string | undefined): AsyncGenerator<ListedDevice[]> {
  const isVisible = organizationId === undefined ? sql`true` : sql`d.organization_id = ${organizationId}`;
  for (let after = ""; ; ) {
    const rows = await db.many<ListedDevice & Record<string, unknown>>(sql`
      select o.slug as org, d.uid, d.name, d.device_model_slug, d.protocol_slug,
        coalesce(s.is_online, false) as is_online, s.last_seen_at, d.created_at
      from ${deviceTables} join organizations o on o.id = d.organization_id
      where d.deleted_at is null and d.uid > ${after} and ${isVisible} order by d.uid limit ${pageSize}`);
    if (rows.length > 0) yield rows;
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.uid ?? "";
  }
}

const list: Command = {
  path: ["device", "list"],
  summary: "List the registered devices",
  positionals: [],
  options: [{ name: "org", value: "SLUG", summary: "only those of this organization" }],
  examples: ["vigil device list", "vigil device list --org care-co --json"],
  next: ["vigil device show UID"],
  run: async (context) => {
    const slug = context.args.value("org");
    await withCurrentDatabase(context, async (db) => {
      const organizationId = slug === undefined ? undefined : (await getOrganization(db, slug)).id;
      await printPages(context, devicePages(db, organizationId), {
        titles: ["uid", "org", "model", "online", "last_seen_at", "name"],
        cells: (one) => [
          one.uid,
          one.org,
          one.device_model_slug,
          one.is_online ? "yes" : "no",
          one.last_seen_at?.toISOString() ?? "-",
          one.name,
        ],
        widths: [15, 12, 16, 6, 24],
        whenEmpty: "No devices yet. POST /api/v1/devices/ registers one.",
      });
    });
    return 0;
  },
};

const show: Command = {
  path: ["device", "show"],
  summary: "Show a device, its owner and its connection",
  positionals: [{ name: "UID", summary: "IMEI of a live device, of any organization" }],
  options: [],
  examples: ["vigil device show 490154203237518", "vigil device show 490154203237518 --json"],
  next: ["vigil device terminal-id UID", "vigil device poisoned list --uid UID"],
  run: async (context) => {
    const uid = context.args.positionals[0] ?? "";
    if (!isImei(uid)) throw new UsageError(`UID must be an IMEI of 15 digits, not "${uid}"`);
    const document = await withCurrentDatabase(context, async (db) => {
      const device = await findLiveDeviceAnywhere(db, uid);
      if (!device) throw new CommandError(`there is no live device ${uid}: "vigil device list" shows them`);
      return describeDevice(db, device);
    });
    const { metadata, last_status, last_location, ...fields } = document;
    const asText = { ...fields, last_status: JSON.stringify(last_status), metadata: JSON.stringify(metadata) };
    context.print(document, record({ ...asText, last_location: JSON.stringify(last_location) }));
    return 0;
  },
};

async function describeDevice(db: Db, device: DeviceRow) {
  const { organization_id: organizationId, id } = device;
  const { slug } = await db.one<{ slug: string }>`select slug from organizations where id = ${organizationId}`;
  const assignments = await db.many<{ email: string; role: number }>`
    select m.email, a.role
    from assignments a
    join memberships m on m.user_id = a.user_id and m.organization_id = a.organization_id
    where a.organization_id = ${organizationId} and a.device_id = ${id} and a.is_active order by a.role desc, m.email`;
  const holders = assignments.map(({ email, role }) => ({ email, role: assignmentRoleLabel(role) }));
  const session = await db.maybeOne<{ remote_addr: string; transport: string; connected_at: Date }>`
    select remote_addr, transport, connected_at from device_sessions
    where organization_id = ${organizationId} and device_id = ${id} and disconnected_at is null`;
  return { org: slug, ...toDevice(device, loadCatalog(), true), holders, session: session ?? null };
}

export const deviceLookCommands: readonly Command[] = [list, show];

import type { Db } from "../../db/database.ts";
import { sql } from "../../db/sql.ts";
import { isImei } from "../../lib/ids.ts";
import { terminalKey } from "./terminal-id.ts";

/** What the gateway must know of a device that logs in. */
export interface WireDevice {
  id: string;
  organization_id: string;
  uid: string;
  name: string;
  device_model_slug: string;
  timezone: string;
  default_locale: string;
  /** Networks in CIDR form that the organization's devices log in from; none: all. */
  gateway_networks: string[];
  /** The organization has pinned its SIMs. */
  has_pinned_sim: boolean;
  /** As registered. */
  iccid: string | null;
  /** As the device last reported it. */
  sim_iccid: string | null;
  sim_imsi: string | null;
  /** Where its last connection came from; null: it has had none. */
  last_network: string | null;
}

const wireColumns = sql`d.id, d.organization_id, d.uid, d.name, d.device_model_slug, d.timezone, o.default_locale,
  o.gateway_networks, 'pin_sim' = any(o.features) as has_pinned_sim, d.iccid, t.sim_iccid, t.sim_imsi,
  s.network as last_network`;
const wireTables = sql`devices d join organizations o on o.id = d.organization_id
  left join device_state t on t.device_id = d.id left join device_sessions s on s.device_id = d.id`;

/**
 * The live device that sends this id under this protocol, of any organization: the wire does not say whose it is. A device of
 * another protocol's model is not found, whatever its id.
 */
export function findWireDevice(db: Db, protocolSlug: string, wireId: string): Promise<WireDevice | undefined> {
  if (isImei(wireId)) {
    // Without statistics, as after an import or a restore, the planner takes the index of protocols for as good as that of IMEIs,
    // and reads every device of the protocol. Adding nothing to the column keeps it away from that one.
    return db.maybeOne<WireDevice>`
      select ${wireColumns} from ${wireTables}
      where d.uid = ${wireId} and d.protocol_slug || '' = ${protocolSlug} and d.deleted_at is null`;
  }
  return db.maybeOne<WireDevice>`
    select ${wireColumns} from ${wireTables}
    where d.protocol_slug = ${protocolSlug} and d.terminal_key = ${terminalKey(protocolSlug, wireId)}
      and d.deleted_at is null and d.terminal_key is not null`;
}

import type { Db } from "../../db/database.ts";
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
}

/**
 * The live device that sends this id under this protocol, of any organization: the wire does not say whose it is. A device of
 * another protocol's model is not found, whatever its id.
 */
export function findWireDevice(db: Db, protocolSlug: string, wireId: string): Promise<WireDevice | undefined> {
  if (isImei(wireId)) {
    return db.maybeOne<WireDevice>`
      select d.id, d.organization_id, d.uid, d.name, d.device_model_slug, d.timezone, o.default_locale
      from devices d join organizations o on o.id = d.organization_id
      where d.uid = ${wireId} and d.protocol_slug = ${protocolSlug} and d.deleted_at is null`;
  }
  return db.maybeOne<WireDevice>`
    select d.id, d.organization_id, d.uid, d.name, d.device_model_slug, d.timezone, o.default_locale
    from devices d join organizations o on o.id = d.organization_id
    where d.protocol_slug = ${protocolSlug} and d.terminal_key = ${terminalKey(protocolSlug, wireId)}
      and d.deleted_at is null and d.terminal_key is not null`;
}

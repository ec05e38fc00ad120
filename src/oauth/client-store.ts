import type { Db } from "../db/database.ts";
import { hashSecret } from "./client-secrets.ts";
import type { Scope } from "./scopes.ts";

export interface Client {
  integrationId: string;
  organizationId: string;
  clientId: string;
  scopes: readonly Scope[];
}

/** The active integration with this id and secret. The secret is compared as a hash inside an index, which leaks no timing. */
export async function findClient(db: Db, clientId: string, secret: string, now: Date): Promise<Client | undefined> {
  const row = await db.maybeOne<{ id: string; organization_id: string; client_id: string; scopes: Scope[] }>`
    select i.id, i.organization_id, i.client_id, i.scopes
    from integrations i
    join integration_secrets s on s.integration_id = i.id
    where i.client_id = ${clientId} and i.status = 'active' and s.secret_hash = ${hashSecret(secret)}
      and (s.valid_until is null or s.valid_until > ${now})`;
  return (
    row && { integrationId: row.id, organizationId: row.organization_id, clientId: row.client_id, scopes: row.scopes }
  );
}

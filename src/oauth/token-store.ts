import type { Db, Tx } from "../db/database.ts";
import { randomToken } from "../lib/ids.ts";
import { hashSecret } from "./client-secrets.ts";
import { announceTokenRevoked } from "./identity-changes.ts";
import {
  type OrganizationIdentity,
  type OrganizationRow,
  organizationColumns,
  ratePoliciesOf,
  toOrganizationIdentity,
} from "./organization-identity.ts";
import type { Scope } from "./scopes.ts";

/** What a valid partner token stands for. `scopes` are those of the token that are still granted to the integration. */
export interface PartnerIdentity {
  organization: OrganizationIdentity;
  integrationId: string;
  integrationName: string;
  clientId: string;
  messagingEnabled: boolean;
  scopes: ReadonlySet<Scope>;
  /** The limits of the organization as the counter wants them; made once, because every call is compared with them. */
  ratePolicies: readonly { name: string; quota: number; windowSeconds: number }[];
  expiresAtMs: number;
}

export const partnerTokenPrefix = "pt_";

export interface IssuedToken {
  token: string;
  expiresAt: Date;
}

export async function issueToken(
  tx: Db,
  client: { integrationId: string; organizationId: string },
  scopes: readonly Scope[],
  now: Date,
  ttlSeconds: number,
): Promise<IssuedToken> {
  const token = partnerTokenPrefix + randomToken(32);
  const expiresAt = new Date(now.getTime() + ttlSeconds * 1000);
  await tx.run`
    insert into access_tokens (token_hash, integration_id, organization_id, scopes, created_at, expires_at)
    values (${hashSecret(token)}, ${client.integrationId}, ${client.organizationId}, ${scopes}, ${now}, ${expiresAt})`;
  return { token, expiresAt };
}

interface TokenRow extends OrganizationRow {
  token_scopes: Scope[];
  granted_scopes: Scope[];
  expires_at: Date;
  integration_id: string;
  integration_name: string;
  client_id: string;
  messaging_enabled: boolean;
}

/** The identity behind a token that was issued, whatever its expiry; undefined if unknown or its integration is not active. */
export async function findTokenIdentity(db: Db, tokenHash: Buffer): Promise<PartnerIdentity | undefined> {
  const row = await db.maybeOne<TokenRow>`
    select t.scopes as token_scopes, i.scopes as granted_scopes, t.expires_at, i.id as integration_id,
      i.name as integration_name, i.client_id, i.messaging_enabled, ${organizationColumns}
    from access_tokens t
    join integrations i on i.id = t.integration_id and i.organization_id = t.organization_id
    join organizations o on o.id = t.organization_id
    where t.token_hash = ${tokenHash} and i.status = 'active'`;
  if (!row) return undefined;
  const granted = new Set(row.granted_scopes);
  const organization = toOrganizationIdentity(row);
  return {
    organization,
    integrationId: row.integration_id,
    integrationName: row.integration_name,
    clientId: row.client_id,
    messagingEnabled: row.messaging_enabled,
    scopes: new Set(row.token_scopes.filter((scope) => granted.has(scope))),
    ratePolicies: ratePoliciesOf(organization),
    expiresAtMs: row.expires_at.getTime(),
  };
}

/** Ends a token of this client; a token of another client is not changed. */
export async function revokeToken(tx: Tx, integrationId: string, token: string): Promise<void> {
  const tokenHash = hashSecret(token);
  const revoked = await tx.run`
    delete from access_tokens where token_hash = ${tokenHash} and integration_id = ${integrationId}`;
  if (revoked > 0) await announceTokenRevoked(tx, tokenHash);
}

export const deleteExpiredTokens = (db: Db, now: Date): Promise<number> =>
  db.run`delete from access_tokens where expires_at < ${now}`;

import { randomBytes } from "node:crypto";
import type { Tx } from "../db/database.ts";
import { type SecretBox, WrongKey } from "../lib/secret-box.ts";
import { newWebhookSecret } from "../resources/organizations/webhook-secret.ts";
import { fingerprintKey } from "./secret-key.ts";

/** What was sealed with a key that is not at hand, and what people have to do about it. */
export interface LostSecrets {
  /** Their webhooks are signed with a secret that nobody knows until it is rotated. */
  webhook_secrets: { integration_id: string; name: string; org: string }[];
  /** E-mail addresses of people whose authenticator codes are refused; their recovery codes still work. */
  second_factors: string[];
  /** Everybody signs in anew. */
  session_key: boolean;
}

const isLost = (box: SecretBox, sealed: string | null): boolean => {
  if (sealed === null) return false;
  try {
    box.open(sealed);
    return false;
  } catch (error) {
    if (error instanceof WrongKey) return true;
    throw error;
  }
};

/**
 * Makes a restored database work with the key that is at hand. A secret that cannot be opened is replaced by a random one: nothing
 * is sent unsigned and no second factor is switched off because a key was lost.
 */
export async function acceptKey(tx: Tx, box: SecretBox, now: Date): Promise<LostSecrets> {
  const lost = {
    webhook_secrets: await replaceWebhookSecrets(tx, box),
    second_factors: await replaceSecondFactors(tx, box),
    session_key: await dropLostSessionKey(tx, box),
  };
  await tx.run`
    insert into settings (key, value, updated_at) values (${fingerprintKey}, ${JSON.stringify(box.fingerprint)}, ${now})
    on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`;
  return lost;
}

async function replaceWebhookSecrets(tx: Tx, box: SecretBox): Promise<LostSecrets["webhook_secrets"]> {
  const rows = await tx.many<{
    id: string;
    name: string;
    org: string;
    current: string | null;
    previous: string | null;
    isDeleted: boolean;
  }>`
    select i.id, i.name, o.slug as org, i.status = 'deleted' as "isDeleted", i.webhook_secret as current, i.webhook_secret_previous as previous
    from integrations i join organizations o on o.id = i.organization_id
    where i.webhook_secret is not null or i.webhook_secret_previous is not null
    order by o.slug, i.name, i.id`;
  const lost: LostSecrets["webhook_secrets"] = [];
  for (const { id, name, org, current, previous, isDeleted } of rows) {
    if (isLost(box, previous)) {
      await tx.run`
        update integrations set webhook_secret_previous = null, webhook_secret_previous_until = null where id = ${id}`;
    }
    if (!isLost(box, current)) continue;
    await tx.run`update integrations set webhook_secret = ${box.seal(newWebhookSecret())} where id = ${id}`;
    if (!isDeleted) lost.push({ integration_id: id, name, org });
  }
  return lost;
}

async function replaceSecondFactors(tx: Tx, box: SecretBox): Promise<string[]> {
  const rows = await tx.many<{ user_id: string; email: string; sealed_secret: string }>`
    select f.user_id, u.email, f.sealed_secret from second_factors f join users u on u.id = f.user_id order by u.email`;
  const lost = rows.filter(({ sealed_secret }) => isLost(box, sealed_secret));
  for (const { user_id } of lost) {
    const sealed = box.seal(randomBytes(20).toString("base64url"));
    await tx.run`update second_factors set sealed_secret = ${sealed} where user_id = ${user_id}`;
  }
  return lost.map(({ email }) => email);
}

async function dropLostSessionKey(tx: Tx, box: SecretBox): Promise<boolean> {
  const row = await tx.maybeOne<{ value: string }>`
    select value #>> '{}' as value from settings where key = 'session_key'`;
  if (!row || !isLost(box, row.value)) return false;
  // The next start makes a new one.
  await tx.run`delete from settings where key = 'session_key'`;
  return true;
}

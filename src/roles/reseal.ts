import { linkSync, renameSync } from "node:fs";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { isSealed, makeSecretBox, type SecretBox } from "../lib/secret-box.ts";
import { fingerprintKey, openSecretBox, readSecretKey, secretKeyFile, writeNewSecretKey } from "./secret-key.ts";

/** Every place of the database that holds a sealed secret, so that none is forgotten when the key changes. */
interface SealedRow {
  secret: string;
  store(tx: Tx, sealed: string): Promise<number>;
}

async function sealedRows(tx: Tx): Promise<SealedRow[]> {
  const settings = await tx.many<{ value: string }>`
    select value #>> '{}' as value from settings where key = 'session_key' for update`;
  const integrations = await tx.many<{ id: string; current: string | null; previous: string | null }>`
    select id, webhook_secret as current, webhook_secret_previous as previous from integrations
    where webhook_secret is not null or webhook_secret_previous is not null for update`;
  const factors = await tx.many<{ user_id: string; sealed_secret: string }>`
    select user_id, sealed_secret from second_factors for update`;
  return [
    ...settings.map(({ value }) => ({
      secret: value,
      store: (on: Tx, sealed: string) =>
        on.run`update settings set value = ${JSON.stringify(sealed)} where key = 'session_key'`,
    })),
    ...integrations.flatMap(({ id, current, previous }): SealedRow[] => [
      ...(current === null
        ? []
        : [
            {
              secret: current,
              store: (on: Tx, sealed: string) =>
                on.run`update integrations set webhook_secret = ${sealed} where id = ${id}`,
            },
          ]),
      ...(previous === null
        ? []
        : [
            {
              secret: previous,
              store: (on: Tx, sealed: string) =>
                on.run`update integrations set webhook_secret_previous = ${sealed} where id = ${id}`,
            },
          ]),
    ]),
    ...factors.map(({ user_id, sealed_secret }) => ({
      secret: sealed_secret,
      store: (on: Tx, sealed: string) =>
        on.run`update second_factors set sealed_secret = ${sealed} where user_id = ${user_id}`,
    })),
  ];
}

/** Secrets of databases from before secrets were sealed. */
export async function sealPlainSecrets(db: Database, box: SecretBox): Promise<void> {
  await db.transaction(async (tx) => {
    for (const { secret, store } of await sealedRows(tx)) {
      if (!isSealed(secret)) await store(tx, box.seal(secret));
    }
  });
}

export interface Resealed {
  resealed: number;
  key_file: string;
  fingerprint: string;
}

/**
 * All secrets change to the new key in one transaction. A new key of the data folder takes its place right after the commit:
 * until then it lies beside the old one, so that a crash leaves both.
 */
export async function resealSecrets(
  db: Database,
  config: Config,
  newKeyFile: string | undefined,
  now: Date,
): Promise<Resealed> {
  const from = openSecretBox(config);
  const { path } = secretKeyFile(config);
  const target = newKeyFile ?? `${path}.new`;
  if (newKeyFile === undefined) writeNewSecretKey(target);
  const to = makeSecretBox(readSecretKey(target));
  const resealed = await db.transaction(async (tx) => {
    const rows = await sealedRows(tx);
    for (const { secret, store } of rows) await store(tx, to.seal(from.open(secret)));
    await tx.run`
      insert into settings (key, value, updated_at) values (${fingerprintKey}, ${JSON.stringify(to.fingerprint)}, ${now})
      on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at`;
    return rows.length;
  });
  if (newKeyFile === undefined) {
    linkSync(path, `${path}.${from.fingerprint}`);
    renameSync(target, path);
  }
  return { resealed, key_file: newKeyFile ?? path, fingerprint: to.fingerprint };
}

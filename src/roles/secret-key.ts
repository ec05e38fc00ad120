import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, ConfigError } from "../config.ts";
import type { Database } from "../db/database.ts";
import { newUuid } from "../lib/ids.ts";
import { makeSecretBox, newSecretKey, type SecretBox } from "../lib/secret-box.ts";

/** The key that seals secrets in the database (section 29): a file of the operator's, or one in the data folder. */
export interface SecretKeyFile {
  path: string;
  isOwn: boolean;
}

export const secretKeyFile = ({ secretKeyFile: given, dataDir }: Config): SecretKeyFile =>
  given === undefined ? { path: join(dataDir, "secret.key"), isOwn: false } : { path: given, isOwn: true };

const setting = "VIGIL_SECRET_KEY_FILE";

/** 32 bytes in base64, with or without padding and line end. */
export function readSecretKey(path: string): Buffer {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    throw new ConfigError(setting, `${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const key = Buffer.from(text, "base64");
  if (!/^[A-Za-z0-9+/_-]{42,44}=*$/.test(text) || key.length !== 32) {
    throw new ConfigError(setting, `${path} must hold 32 bytes in base64`);
  }
  return key;
}

/** Of processes that start together one makes the file; the link is made only when the file is complete. */
export function writeNewSecretKey(path: string): void {
  const draft = `${path}.${newUuid()}`;
  writeFileSync(draft, `${newSecretKey().toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
}

const exists = (path: string): boolean => {
  try {
    readFileSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
};

export function openSecretBox(config: Config): SecretBox {
  const { path, isOwn } = secretKeyFile(config);
  if (!isOwn && !exists(path)) {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    writeNewSecretKey(path);
  }
  return makeSecretBox(readSecretKey(path));
}

export const fingerprintKey = "secret_key_fingerprint";

/** All processes of one database share one key: the first one to come writes its fingerprint, others must have the same. */
export async function requireFittingKey(db: Database, secrets: SecretBox, config: Config, now: Date): Promise<void> {
  await db.run`
    insert into settings (key, value, updated_at)
    values (${fingerprintKey}, ${JSON.stringify(secrets.fingerprint)}, ${now}) on conflict (key) do nothing`;
  const row = await db.one<{ value: string }>`
    select value #>> '{}' as value from settings where key = ${fingerprintKey}`;
  if (row.value === secrets.fingerprint) return;
  throw new ConfigError(
    setting,
    `the secrets in this database were sealed with the key ${row.value}, but ${secretKeyFile(config).path} holds ${secrets.fingerprint}; give every process the key of the first one`,
  );
}

import { createSocket } from "node:dgram";
import { constants, existsSync } from "node:fs";
import { access } from "node:fs/promises";
import { createServer, isIPv6 } from "node:net";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import type { Distribution } from "../db/distribution.ts";
import { fingerprintOf } from "../lib/secret-box.ts";
import { freeBytesOf } from "./disk-floor.ts";
import type { LastBackup } from "./last-backup.ts";
import { maxClockDifferenceMs, maxDroppedPartitions } from "./retention-guard.ts";
import { readSecretKey, secretKeyFile } from "./secret-key.ts";
import type { ArchiveState } from "./wal-archive.ts";

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

const minFreeBytes = 1024 ** 3;
const gib = (bytes: number): string => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.replace(/^v/, "").split(".").map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  if (!ok) return { name: "node", ok, detail: `${version} is too old: install Node.js 24` };
  const detail = major >= 22 ? version : `${version} has reached its end of life: install Node.js 24`;
  return { name: "node", ok, detail };
}

/** The folder itself, or the nearest one above it that exists and in which it would be made. */
export function existingFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : existingFolder(dirname(folder));
}

export async function checkDataDir({ dataDir }: Config): Promise<Check> {
  const folder = existingFolder(dataDir);
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    const detail = folder === dataDir ? `${dataDir} is writable` : `${dataDir} can be created in ${folder}`;
    return { name: "data_dir", ok: true, detail };
  } catch {
    return {
      name: "data_dir",
      ok: false,
      detail: `${folder} is not writable: change its owner or choose another with --data-dir`,
    };
  }
}

export async function checkDiskSpace({ dataDir, databaseUrl, diskFloorMb }: Config): Promise<Check> {
  const freeBytes = await freeBytesOf(existingFolder(dataDir));
  if (databaseUrl === undefined && freeBytes < diskFloorMb * 1024 * 1024) {
    const detail = `only ${gib(freeBytes)} free, below VIGIL_DISK_FLOOR_MB (${diskFloorMb}): only alarms are stored, make room`;
    return { name: "disk_space", ok: false, detail };
  }
  const ok = freeBytes >= minFreeBytes;
  const detail = ok ? `${gib(freeBytes)} free` : `only ${gib(freeBytes)} free: make room or choose another --data-dir`;
  return { name: "disk_space", ok, detail };
}

/** The embedded server keeps everything here; without it there is nothing to open, and looking must not create it. */
export const hasEmbeddedDatabase = ({ dataDir }: Config): boolean => existsSync(join(dataDir, "postgres"));

function canListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

function canBind(address: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    socket.once("error", (error) => {
      socket.close();
      resolve(error);
    });
    socket.bind({ address, port, exclusive: true }, () => socket.close(() => resolve(undefined)));
  });
}

async function isServiceRunning({ opsPort }: Config): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${opsPort}/healthz`, { signal: AbortSignal.timeout(2000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

export async function checkPorts(config: Config): Promise<Check[]> {
  const gateway = { setting: "VIGIL_GATEWAY_PORT", host: config.gatewayHost, port: config.gatewayPort };
  const wanted = [
    { name: "http_port", setting: "VIGIL_PORT", host: config.host, port: config.port, open: canListen },
    { name: "gateway_port", ...gateway, open: canListen },
    ...(config.gatewayUdp ? [{ name: "gateway_udp_port", ...gateway, open: canBind }] : []),
    { name: "ops_port", setting: "VIGIL_OPS_PORT", host: "127.0.0.1", port: config.opsPort, open: canListen },
  ];
  const isRunning = await isServiceRunning(config);
  return Promise.all(
    wanted.map(async ({ name, setting, host, port, open }) => {
      const error = await open(host, port);
      if (!error) return { name, ok: true, detail: `${host}:${port} is free` };
      if (error.code === "EADDRINUSE" && isRunning) {
        return { name, ok: true, detail: `${host}:${port} is used by the running service` };
      }
      return { name, ok: false, detail: `${host}:${port} cannot be opened (${error.code}): free it or set ${setting}` };
    }),
  );
}

/** A time before this program was written is a machine whose clock was never set. */
const earliestSaneTime = Date.UTC(2026, 0, 1);
const maxSkewMs = 5000;

/** `databaseNowMs` is undefined when the database could not be asked. */
export function checkClock(config: Config, nowMs: number, databaseNowMs: number | undefined): Check {
  const name = "clock";
  const time = new Date(nowMs).toISOString();
  if (nowMs < earliestSaneTime) return { name, ok: false, detail: `${time} is in the past: set the clock (NTP)` };
  const skewMs = databaseNowMs === undefined ? 0 : Math.abs(databaseNowMs - nowMs);
  if (skewMs > maxSkewMs) {
    return { name, ok: false, detail: `${Math.round(skewMs / 1000)} s apart from the database: set both clocks (NTP)` };
  }
  const moved = config.clockOffsetSeconds;
  const drill = moved === 0 ? "" : `, moved by ${moved} s (VIGIL_CLOCK_OFFSET_SECONDS, for drills only)`;
  return { name, ok: true, detail: `${time}${drill}` };
}

/** `expired`: partitions by table whose retention has ended. */
export function checkRetention(
  { retentionDays }: Config,
  expired: readonly (readonly string[])[],
  databaseNow: Date,
): Check {
  const name = "retention";
  if (Math.abs(Date.now() - databaseNow.getTime()) > maxClockDifferenceMs) {
    return { name, ok: false, detail: "nothing is deleted by age: the clock differs from that of the database" };
  }
  const stuck = expired.filter((names) => names.length > maxDroppedPartitions).flat();
  if (stuck.length === 0) return { name, ok: true, detail: `outbound events are kept for ${retentionDays} days` };
  const detail = `${stuck.length} partitions have expired at once and are kept: check VIGIL_RETENTION_DAYS (${retentionDays}), then run "vigil db retention --apply"`;
  return { name, ok: false, detail };
}

/** Nothing to say of a database that is not distributed and is not meant to be. `noted`: tables that are meant to be. */
export function checkDistribution(
  { citus, workers, distributed, reasons }: Distribution,
  noted: readonly string[],
): Check[] {
  const name = "distribution";
  if (noted.length === 0 && distributed.length === 0) return [];
  const missing = noted.filter((table) => !distributed.includes(table));
  const wrong = citus === undefined ? reasons : missing.map((table) => `${table} is not distributed`);
  const advice = ': run "vigil db distribute --check"';
  if (wrong.length > 0) return [{ name, ok: false, detail: `${wrong.join(", ")}${advice}` }];
  if (reasons.length > 0) return [{ name, ok: false, detail: `${reasons.join(", ")}${advice}` }];
  return [{ name, ok: true, detail: `${distributed.join(", ")} over ${workers} node(s) of Citus ${citus}` }];
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);

export function checkBaseUrl({ baseUrl, host }: Config): Check {
  const name = "base_url";
  if (baseUrl === undefined) {
    if (isLoopback(host)) return { name, ok: true, detail: "not set: links use the loopback address" };
    return { name, ok: false, detail: `the API listens on ${host}: set VIGIL_BASE_URL to its public https address` };
  }
  const url = new URL(baseUrl);
  const ok = url.protocol === "https:" || isLoopback(url.hostname);
  return { name, ok, detail: ok ? baseUrl : `${baseUrl} is not https: tokens would travel in the clear` };
}

export function checkMail({ smtpUrl, dataDir }: Config): Check {
  const detail =
    smtpUrl === undefined
      ? `VIGIL_SMTP_URL is not set: mails are kept in ${join(dataDir, "mail")}`
      : `SMTP server ${new URL(smtpUrl).host}`;
  return { name: "mail", ok: true, detail };
}

/** Which key seals the secrets. One that does not exist yet is made by the first start. */
export function checkSecretKey(config: Config): Check {
  const { path, isOwn } = secretKeyFile(config);
  const origin = isOwn ? "VIGIL_SECRET_KEY_FILE" : "data folder";
  if (!isOwn && !existsSync(path))
    return { name: "secret key", ok: true, detail: "none yet: the first start creates it" };
  try {
    return { name: "secret key", ok: true, detail: `${fingerprintOf(readSecretKey(path))} (${origin}: ${path})` };
  } catch (error) {
    return { name: "secret key", ok: false, detail: (error as Error).message };
  }
}

/** Texts are spoken by an optional package unless the operator has chosen another speaker. */
export function checkSpeech({ speech }: Pick<Config, "speech">, isInstalled: boolean): Check {
  const name = "speech";
  if (speech.kind === "off") return { name, ok: true, detail: "VIGIL_TTS is off: texts are not spoken" };
  if (speech.kind !== "espeak") return { name, ok: true, detail: `texts are spoken by VIGIL_TTS (${speech.kind})` };
  if (isInstalled) return { name, ok: true, detail: "texts are spoken by the bundled engine" };
  return {
    name,
    ok: true,
    detail:
      'the speech engine is not installed, texts are not spoken: run "npm install --include=optional" or set VIGIL_TTS',
  };
}

/** A database that somebody backs up with Vigil should not go without for longer. */
const maxBackupAgeMs = 7 * 24 * 3_600_000;

/** How old the last backup is. Who has none by `vigil backup` may use other means, so that alone is no failure. */
export function checkBackup(last: LastBackup | undefined, nowMs: number): Check {
  const name = "backup";
  if (!last) return { name, ok: true, detail: 'none by "vigil backup" yet' };
  const ageMs = Math.max(0, nowMs - last.at.getTime());
  const hours = Math.floor(ageMs / 3_600_000);
  const age = hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
  const ok = ageMs <= maxBackupAgeMs;
  const detail = `the last one is ${age} old (${last.file})`;
  return { name, ok, detail: ok ? detail : `${detail}: run "vigil backup FILE"` };
}

export function checkWalArchive({ walArchiveDir }: Pick<Config, "walArchiveDir">, state: ArchiveState): Check {
  const name = "wal_archive";
  const { folder, failing, lastArchivedAt } = state;
  if (folder === undefined) {
    if (walArchiveDir === undefined)
      return { name, ok: true, detail: "VIGIL_WAL_ARCHIVE_DIR is not set: no WAL is archived" };
    return {
      name,
      ok: false,
      detail: `nothing is archived to ${walArchiveDir} yet: restart the service with this setting`,
    };
  }
  if (failing !== null) {
    const detail = `${failing} cannot be archived to ${folder}: check that the folder is there, writable and has room`;
    return { name, ok: false, detail };
  }
  return { name, ok: true, detail: `${folder}, last ${lastArchivedAt?.toISOString() ?? "not yet"}` };
}

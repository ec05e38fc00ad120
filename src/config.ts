import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { SpeechSetting } from "./audio/speech-provider.ts";
import { type LogLevel, logLevels } from "./lib/logger.ts";
import { parseNetwork } from "./lib/network-list.ts";
import { parseHeaderList, type TracingSettings } from "./tracing/tracing-settings.ts";

/** Settings come from flags and from the environment, flags first. This is the only file that reads the environment. */
export interface Config {
  databaseUrl: string | undefined;
  /** A replica of it that long reads of history may be answered by. */
  databaseReadUrl: string | undefined;
  /** Workers of a distributed database, which may be asked for the tables that are spread over them. */
  databaseHotUrls: string[];
  dataDir: string;
  host: string;
  port: number;
  gatewayHost: string;
  gatewayPort: number;
  /** Extra ports that speak one protocol only. */
  gatewayPorts: readonly DedicatedPort[];
  /** Datagrams on the ports of the gateway. */
  gatewayUdp: boolean;
  gatewayIdleSeconds: number;
  gatewayMaxConnections: number;
  gatewayMaxPerAddress: number;
  gatewayNewPerAddress: number;
  gatewayPacketsPerMinute: number;
  /** The gateway is closed to all other networks; none: it is open to all. */
  gatewayNetworks: readonly string[];
  /** Proxies that begin each connection of a device with a header of the PROXY protocol; none: it is not spoken. */
  gatewayProxyNetworks: readonly string[];
  /** Voice and ECG that are taken from one device in a day. */
  deviceMediaMbPerDay: number;
  /** With less free space than this on the disk of the embedded database only alarms are stored; 0: always everything. */
  diskFloorMb: number;
  /** Transactions of packets at a time. */
  ingestInFlight: number;
  /** Priority of a process that has no role but worker: 0 as others, 19 the lowest. */
  workerNice: number;
  /** Where the WAL of the embedded database is archived to; undefined: nowhere. */
  walArchiveDir: string | undefined;
  /** What was written is archived after this time at the latest. */
  walArchiveSeconds: number;
  /** Archived WAL that only goes back further than this is removed; 0: it is kept. */
  walArchiveDays: number;
  opsPort: number;
  baseUrl: string | undefined;
  roles: readonly Role[];
  /** That share the roles on this machine; 1: everything in one. */
  processes: number;
  tokenTtlSeconds: number;
  retentionDays: number;
  clockOffsetSeconds: number;
  commandAckTimeoutSeconds: number;
  commandTtlSeconds: number;
  offlineAfterSeconds: number;
  /** Networks in CIDR form that webhooks may reach although they are not public. */
  webhookAllowCidrs: readonly string[];
  webhookCaFile: string | undefined;
  /** With which `webhooks listen` signs for an integration that has none. */
  webhookSecret: string | undefined;
  /** The key that seals secrets; undefined: one in the data folder. */
  secretKeyFile: string | undefined;
  webhookBackoffSeconds: readonly number[];
  webhookTimeoutMs: number;
  geocoderUrl: string | undefined;
  geolocateUrl: string | undefined;
  trustProxy: readonly string[];
  /** A map style for the console; empty: the built-in outline of the world. */
  mapStyleUrl: string;
  /** Connections for calls; devices and background work have their own. */
  databasePoolSize: number;
  /** A statement of a call that takes longer is ended. */
  statementTimeoutSeconds: number;
  smtpUrl: string | undefined;
  mailFrom: string;
  speech: SpeechSetting;
  logLevel: LogLevel;
  /** A log line for every call, not only for refused ones. */
  accessLog: boolean;
  /** Where traces go to; undefined: nothing is traced. */
  tracing: TracingSettings | undefined;
}

export interface DedicatedPort {
  protocol: string;
  port: number;
}

const roles = ["api", "gateway", "worker"] as const;
export type Role = (typeof roles)[number];

/** A setting that cannot be used; the message names it and says what is expected. */
export class ConfigError extends Error {
  /** The flag (`--port`) or variable (`VIGIL_PORT`) that is wrong. */
  readonly setting: string;

  constructor(setting: string, expectation: string) {
    super(`${setting} ${expectation}`);
    this.setting = setting;
  }
}

export interface ConfigFlags {
  dataDir?: string | undefined;
  port?: string | undefined;
  gatewayPort?: string | undefined;
  opsPort?: string | undefined;
  roles?: string | undefined;
  processes?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

function integer(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text.trim()) || value < low || value > high) {
    throw new ConfigError(name, `must be a whole number from ${low} to ${high}, not "${text}"`);
  }
  return value;
}

function httpUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new ConfigError(name, `must be an http(s) URL, not "${text}"`);
  return text;
}

/** For URLs that carry a password: the message must not repeat them. */
function secretUrl(name: string, text: string, schemes: readonly string[]): string {
  const scheme = URL.canParse(text) ? new URL(text).protocol.slice(0, -1) : "";
  if (!schemes.includes(scheme)) throw new ConfigError(name, `must be a URL that begins with ${schemes[0]}://`);
  return text;
}

const listOf = (text: string): string[] => text.split(",").flatMap((part) => part.trim() || []);

function parseRoles(name: string, text: string): Role[] {
  const named = listOf(text);
  const unknown = named.find((role) => !roles.includes(role as Role));
  if (unknown !== undefined || named.length === 0) {
    throw new ConfigError(name, `takes a list of ${roles.join(", ")}, not "${unknown ?? text}"`);
  }
  return roles.filter((role) => named.includes(role));
}

/** As many as there are cores, which PostgreSQL shares; more than the embedded database has connections for help nobody. */
const maxProcesses = 16;

/** Below four cores several processes would only take the database's time. */
export function parseProcesses(name: string, text: string | undefined, cores: number): number {
  if (text === "auto" || (text === undefined && cores >= 4)) return Math.min(cores, maxProcesses);
  if (text === undefined) return 1;
  if (/^\d+$/.test(text)) return integer(name, text, 1, maxProcesses);
  throw new ConfigError(name, `takes auto or a whole number from 1 to ${maxProcesses}, not "${text}"`);
}

function parseCidr(name: string, text: string): string {
  const network = parseNetwork(text);
  if (network !== undefined) return network;
  throw new ConfigError(name, `must be networks like 10.0.0.0/8 or fd00::/8 separated by commas, not "${text}"`);
}

function parseDedicatedPort(name: string, text: string): DedicatedPort {
  const [, protocol, port] = /^([a-z][a-z0-9_-]*):(\d+)$/.exec(text) ?? [];
  if (protocol === undefined || port === undefined) {
    throw new ConfigError(name, `must be pairs of a protocol and a port, such as PROTOCOL:7701, not "${text}"`);
  }
  return { protocol, port: integer(name, port, 0, 65535) };
}

function parseSwitch(name: string, text: string): boolean {
  if (text !== "on" && text !== "off") throw new ConfigError(name, `takes on or off, not "${text}"`);
  return text === "on";
}

function parseBackoff(name: string, text: string): number[] {
  const waits = listOf(text);
  const bad = waits.find((wait) => !/^\d+(\.\d+)?$/.test(wait));
  if (bad !== undefined || waits.length === 0) {
    throw new ConfigError(name, `must be seconds separated by commas, like 1,5,30,120,600, not "${bad ?? text}"`);
  }
  return waits.map(Number);
}

function parseSpeech(name: string, text: string): SpeechSetting {
  const [, kind = text, rest = ""] = /^(command|http|https):(.+)$/s.exec(text) ?? [];
  if (kind === "espeak" || kind === "off") return { kind };
  if (kind === "command") return { kind, argv: rest.trim().split(/\s+/) };
  const url = rest.startsWith("//") ? text : rest;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return { kind: "http", url };
  throw new ConfigError(name, "must be espeak, off, command:PROGRAM ARGUMENTS or http:URL");
}

function parseLogLevel(name: string, text: string): LogLevel {
  const level = logLevels.find((known) => known === text);
  if (!level) throw new ConfigError(name, `takes ${logLevels.join(", ")}, not "${text}"`);
  return level;
}

/** A header of an unnamed sender could name any address, so the protocol is only spoken with proxies that are named. */
function proxyNetworksOf(protocol: string | undefined, networks: string | undefined): string[] {
  const isOn = protocol !== undefined && parseSwitch("VIGIL_GATEWAY_PROXY_PROTOCOL", protocol);
  const parsed = listOf(networks ?? "").map((text) => parseCidr("VIGIL_GATEWAY_PROXY_NETWORKS", text));
  if (isOn && parsed.length === 0) {
    throw new ConfigError("VIGIL_GATEWAY_PROXY_PROTOCOL", "needs the proxies in VIGIL_GATEWAY_PROXY_NETWORKS");
  }
  return isOn ? parsed : [];
}

type Parsed = <T>(name: string, parse: (name: string, text: string) => T) => T | undefined;

/** The variables that OpenTelemetry defines, so that an environment made for it fits. */
function parseTracing(parsed: Parsed, read: (name: string) => string | undefined): TracingSettings | undefined {
  const base = parsed("OTEL_EXPORTER_OTLP_ENDPOINT", httpUrl);
  if (base === undefined || read("OTEL_SDK_DISABLED") === "true") return undefined;
  parsed("OTEL_EXPORTER_OTLP_PROTOCOL", (name, text) => {
    if (text !== "http/json") throw new ConfigError(name, `must be http/json, not "${text}"`);
  });
  return {
    url: `${base.replace(/\/+$/, "")}/v1/traces`,
    headers:
      parsed("OTEL_EXPORTER_OTLP_HEADERS", (name, text) => {
        const headers = parseHeaderList(text);
        // The message must not repeat them: they hold keys.
        if (!headers) throw new ConfigError(name, "must be headers like name=value separated by commas");
        return headers;
      }) ?? {},
    serviceName: read("OTEL_SERVICE_NAME") ?? "vigil",
    ratio:
      parsed("OTEL_TRACES_SAMPLER_ARG", (name, text) => {
        if (!/^(0(\.\d+)?|1(\.0+)?)$/.test(text))
          throw new ConfigError(name, `must be a share from 0 to 1, not "${text}"`);
        return Number(text);
      }) ?? 1,
  };
}

function hotUrlsOf(name: string, text: string | undefined, mainUrl: string | undefined): string[] {
  const urls = listOf(text ?? "");
  if (urls.length > 0 && mainUrl === undefined) {
    throw new ConfigError(name, "needs DATABASE_URL: the embedded database has no workers");
  }
  return urls.map((url) => secretUrl(name, url, ["postgres", "postgresql"]));
}

function replicaUrlOf(name: string, text: string | undefined, mainUrl: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (mainUrl === undefined) throw new ConfigError(name, "needs DATABASE_URL: the embedded database has no replica");
  return secretUrl(name, text, ["postgres", "postgresql"]);
}

export function loadConfig(
  flags: ConfigFlags = {},
  env: Environment = process.env,
  defaultLogLevel: LogLevel = "info",
): Config {
  const read = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const parsed = <T>(name: string, parse: (name: string, text: string) => T): T | undefined => {
    const text = read(name);
    return text === undefined ? undefined : parse(name, text);
  };
  const number = (name: string, fallback: number, low: number, high: number): number =>
    parsed(name, (_, text) => integer(name, text, low, high)) ?? fallback;
  const port = (flag: string, flagValue: string | undefined, name: string, fallback: number): number =>
    flagValue !== undefined ? integer(flag, flagValue, 0, 65535) : number(name, fallback, 0, 65535);
  return {
    databaseUrl: parsed("DATABASE_URL", (name, text) => secretUrl(name, text, ["postgres", "postgresql"])),
    databaseReadUrl: replicaUrlOf("VIGIL_DATABASE_READ_URL", read("VIGIL_DATABASE_READ_URL"), read("DATABASE_URL")),
    databaseHotUrls: hotUrlsOf("VIGIL_DATABASE_HOT_URLS", read("VIGIL_DATABASE_HOT_URLS"), read("DATABASE_URL")),
    dataDir: resolve(flags.dataDir || read("VIGIL_DATA_DIR") || "./data"),
    host: read("VIGIL_HOST") ?? "127.0.0.1",
    port: port("--port", flags.port, "VIGIL_PORT", 8080),
    gatewayHost: read("VIGIL_GATEWAY_HOST") ?? "0.0.0.0",
    gatewayPort: port("--gateway-port", flags.gatewayPort, "VIGIL_GATEWAY_PORT", 7700),
    gatewayPorts: listOf(read("VIGIL_GATEWAY_PORTS") ?? "").map((text) =>
      parseDedicatedPort("VIGIL_GATEWAY_PORTS", text),
    ),
    gatewayUdp: parsed("VIGIL_GATEWAY_UDP", parseSwitch) ?? true,
    gatewayIdleSeconds: number("VIGIL_GATEWAY_IDLE_SECONDS", 1800, 1, 31_536_000),
    gatewayMaxConnections: number("VIGIL_GATEWAY_MAX_CONNECTIONS", 100_000, 1, 1_000_000),
    gatewayMaxPerAddress: number("VIGIL_GATEWAY_MAX_PER_ADDRESS", 20_000, 1, 1_000_000),
    gatewayNewPerAddress: number("VIGIL_GATEWAY_NEW_PER_ADDRESS_PER_MINUTE", 12_000, 1, 1_000_000),
    gatewayPacketsPerMinute: number("VIGIL_GATEWAY_PACKETS_PER_MINUTE", 600, 1, 1_000_000),
    gatewayNetworks: listOf(read("VIGIL_GATEWAY_NETWORKS") ?? "").map((text) =>
      parseCidr("VIGIL_GATEWAY_NETWORKS", text),
    ),
    gatewayProxyNetworks: proxyNetworksOf(read("VIGIL_GATEWAY_PROXY_PROTOCOL"), read("VIGIL_GATEWAY_PROXY_NETWORKS")),
    deviceMediaMbPerDay: number("VIGIL_DEVICE_MEDIA_MB_PER_DAY", 20, 0, 1_000_000),
    diskFloorMb: number("VIGIL_DISK_FLOOR_MB", 512, 0, 1_000_000_000),
    ingestInFlight: number("VIGIL_INGEST_IN_FLIGHT", 2, 1, 2),
    workerNice: number("VIGIL_WORKER_NICE", 5, 0, 19),
    walArchiveDir: parsed("VIGIL_WAL_ARCHIVE_DIR", (_, text) => resolve(text)),
    walArchiveSeconds: number("VIGIL_WAL_ARCHIVE_SECONDS", 60, 1, 86_400),
    walArchiveDays: number("VIGIL_WAL_ARCHIVE_DAYS", 0, 0, 3650),
    opsPort: port("--ops-port", flags.opsPort, "VIGIL_OPS_PORT", 9090),
    baseUrl: parsed("VIGIL_BASE_URL", httpUrl)?.replace(/\/+$/, ""),
    roles: flags.roles === undefined ? roles : parseRoles("--roles", flags.roles),
    processes:
      flags.processes === undefined
        ? parseProcesses("VIGIL_PROCESSES", read("VIGIL_PROCESSES"), availableParallelism())
        : parseProcesses("--processes", flags.processes, availableParallelism()),
    tokenTtlSeconds: number("VIGIL_TOKEN_TTL_SECONDS", 3600, 1, 31_536_000),
    retentionDays: number("VIGIL_RETENTION_DAYS", 30, 1, 3650),
    clockOffsetSeconds: number("VIGIL_CLOCK_OFFSET_SECONDS", 0, -3_153_600_000, 3_153_600_000),
    commandAckTimeoutSeconds: number("VIGIL_COMMAND_ACK_TIMEOUT_SECONDS", 60, 1, 86_400),
    commandTtlSeconds: number("VIGIL_COMMAND_TTL_SECONDS", 86_400, 1, 31_536_000),
    offlineAfterSeconds: number("VIGIL_OFFLINE_AFTER_SECONDS", 600, 1, 31_536_000),
    webhookAllowCidrs: listOf(read("VIGIL_WEBHOOK_ALLOW_CIDRS") ?? "").map((text) =>
      parseCidr("VIGIL_WEBHOOK_ALLOW_CIDRS", text),
    ),
    webhookCaFile: parsed("VIGIL_WEBHOOK_CA_FILE", (_, text) => resolve(text)),
    webhookSecret: read("VIGIL_WEBHOOK_SECRET"),
    secretKeyFile: parsed("VIGIL_SECRET_KEY_FILE", (_, text) => resolve(text)),
    webhookBackoffSeconds: parsed("VIGIL_WEBHOOK_BACKOFF", parseBackoff) ?? [1, 5, 30, 120, 600],
    webhookTimeoutMs: number("VIGIL_WEBHOOK_TIMEOUT_MS", 10_000, 1, 600_000),
    geocoderUrl: parsed("VIGIL_GEOCODER_URL", httpUrl),
    mapStyleUrl: parsed("VIGIL_MAP_STYLE_URL", httpUrl) ?? "",
    geolocateUrl: parsed("VIGIL_GEOLOCATE_URL", httpUrl),
    trustProxy: listOf(read("VIGIL_TRUST_PROXY") ?? "").map((text) => parseCidr("VIGIL_TRUST_PROXY", text)),
    databasePoolSize: number("VIGIL_DATABASE_POOL_SIZE", 10, 2, 500),
    statementTimeoutSeconds: number("VIGIL_STATEMENT_TIMEOUT_SECONDS", 10, 1, 600),
    smtpUrl: parsed("VIGIL_SMTP_URL", (name, text) => secretUrl(name, text, ["smtp", "smtps"])),
    mailFrom: read("VIGIL_MAIL_FROM") ?? "vigil@localhost",
    speech: parsed("VIGIL_TTS", parseSpeech) ?? { kind: "espeak" },
    logLevel: parsed("VIGIL_LOG_LEVEL", parseLogLevel) ?? defaultLogLevel,
    accessLog: parsed("VIGIL_ACCESS_LOG", parseSwitch) ?? false,
    tracing: parseTracing(parsed, read),
  };
}

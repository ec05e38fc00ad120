import { resolve } from "node:path";
import { type LogLevel, logLevels } from "./lib/logger.ts";

/** Settings come from flags and from the environment, flags first. This is the only file that reads the environment. */
export interface Config {
  databaseUrl: string | undefined;
  dataDir: string;
  host: string;
  port: number;
  opsPort: number;
  baseUrl: string | undefined;
  roles: readonly Role[];
  tokenTtlSeconds: number;
  retentionDays: number;
  clockOffsetSeconds: number;
  commandAckTimeoutSeconds: number;
  trustProxy: readonly string[];
  databasePoolSize: number;
  smtpUrl: string | undefined;
  mailFrom: string;
  logLevel: LogLevel;
}

export const roles = ["api", "gateway", "worker"] as const;
export type Role = (typeof roles)[number];

/** A setting that cannot be used; the message names it and says what is expected. */
export class ConfigError extends Error {}

export interface ConfigFlags {
  dataDir?: string | undefined;
  port?: string | undefined;
  opsPort?: string | undefined;
  roles?: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

function integer(name: string, text: string, low: number, high: number): number {
  const value = Number(text);
  if (!/^-?\d+$/.test(text.trim()) || value < low || value > high) {
    throw new ConfigError(`${name} must be a whole number from ${low} to ${high}, not "${text}"`);
  }
  return value;
}

function absoluteUrl(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw new ConfigError(`${name} must be an http(s) URL, not "${text}"`);
  return text.replace(/\/+$/, "");
}

function parseRoles(text: string): Role[] {
  const named = text.split(",").map((role) => role.trim());
  for (const role of named) {
    if (!roles.includes(role as Role)) throw new ConfigError(`--roles takes ${roles.join(", ")}, not "${role}"`);
  }
  return roles.filter((role) => named.includes(role));
}

export function loadConfig(flags: ConfigFlags = {}, env: Environment = process.env): Config {
  const read = (name: string): string | undefined => (env[name] === "" ? undefined : env[name]);
  const number = (name: string, fallback: number, low: number, high: number): number =>
    integer(name, read(name) ?? String(fallback), low, high);
  const port = (flag: string, flagValue: string | undefined, name: string, fallback: number): number =>
    flagValue !== undefined ? integer(flag, flagValue, 0, 65535) : number(name, fallback, 0, 65535);
  const logLevel = (read("VIGIL_LOG_LEVEL") ?? "info") as LogLevel;
  if (!logLevels.includes(logLevel)) throw new ConfigError(`VIGIL_LOG_LEVEL takes ${logLevels.join(", ")}`);
  const baseUrl = read("VIGIL_BASE_URL");
  return {
    databaseUrl: read("DATABASE_URL"),
    dataDir: resolve(flags.dataDir ?? read("VIGIL_DATA_DIR") ?? "./data"),
    host: read("VIGIL_HOST") ?? "127.0.0.1",
    port: port("--port", flags.port, "VIGIL_PORT", 8080),
    opsPort: port("--ops-port", flags.opsPort, "VIGIL_OPS_PORT", 9090),
    baseUrl: baseUrl === undefined ? undefined : absoluteUrl("VIGIL_BASE_URL", baseUrl),
    roles: flags.roles === undefined ? roles : parseRoles(flags.roles),
    tokenTtlSeconds: number("VIGIL_TOKEN_TTL_SECONDS", 3600, 1, 31_536_000),
    retentionDays: number("VIGIL_RETENTION_DAYS", 30, 1, 3650),
    clockOffsetSeconds: number("VIGIL_CLOCK_OFFSET_SECONDS", 0, -3_153_600_000, 3_153_600_000),
    commandAckTimeoutSeconds: number("VIGIL_COMMAND_ACK_TIMEOUT_SECONDS", 60, 1, 86_400),
    trustProxy: (read("VIGIL_TRUST_PROXY") ?? "").split(",").flatMap((part) => part.trim() || []),
    databasePoolSize: number("VIGIL_DATABASE_POOL_SIZE", 10, 2, 500),
    smtpUrl: read("VIGIL_SMTP_URL"),
    mailFrom: read("VIGIL_MAIL_FROM") ?? "vigil@localhost",
    logLevel,
  };
}

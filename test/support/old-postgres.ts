import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { freeLowPort } from "./free-port.ts";

/** The programs of an older PostgreSQL, where Debian's package has put them. */
export const oldBin = "/usr/lib/postgresql/15/bin";
export const hasOldPostgres = existsSync(join(oldBin, "initdb"));

export interface OldPostgres {
  url: string;
  stop(): Promise<void>;
}

const password = "of-the-old-cluster";

/** PostgreSQL refuses root. */
export function account(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const line =
    readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((one) => /^(postgres|nobody):/.test(one)) ?? "";
  const [, , uid, gid] = line.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** A data folder as a Vigil with the older PostgreSQL has left it, with its server running on a port. */
export async function startOldPostgres(dataDir: string): Promise<OldPostgres> {
  const own = account();
  const cluster = join(dataDir, "postgres", "cluster");
  const secret = join(dataDir, "password");
  mkdirSync(cluster, { recursive: true });
  writeFileSync(secret, password);
  for (const path of [join(dataDir, "postgres"), cluster, secret]) {
    if (own.uid !== undefined && own.gid !== undefined) chownSync(path, own.uid, own.gid);
  }
  chmodSync(cluster, 0o700);
  const run = (program: string, args: string[]): void => {
    const { status, stderr } = spawnSync(join(oldBin, program), args, { ...own, cwd: "/", encoding: "utf8" });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
  };
  const access = ["--username=vigil", "--auth-local=scram-sha-256", "--auth-host=scram-sha-256"];
  run("initdb", ["-D", cluster, `--pwfile=${secret}`, ...access, "--encoding=UTF8", "--locale=C"]);
  writeFileSync(join(cluster, "vigil-password"), password, { mode: 0o600 });
  if (own.uid !== undefined && own.gid !== undefined) chownSync(join(cluster, "vigil-password"), own.uid, own.gid);
  const port = await freeLowPort();
  const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const args = ["-D", cluster, ...settings.flatMap((one) => ["-c", one])];
  const server = spawn(join(oldBin, "postgres"), args, { ...own, cwd: "/", stdio: "ignore" });
  const ended = new Promise<void>((done) => server.once("exit", () => done()));
  const urlOf = (database: string): string => `postgresql://vigil:${password}@127.0.0.1:${port}/${database}`;
  await createDatabase(urlOf("postgres"));
  return {
    url: urlOf("vigil"),
    stop: () => {
      server.kill("SIGINT");
      return ended;
    },
  };
}

async function createDatabase(url: string): Promise<void> {
  for (const limit = Date.now() + 60_000; ; await new Promise((done) => setTimeout(done, 100))) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.query("create database vigil");
      await client.end();
      return;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (Date.now() > limit) throw error;
    }
  }
}

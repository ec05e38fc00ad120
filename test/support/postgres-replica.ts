import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freeLowPort } from "./free-port.ts";
import { account, oldBin } from "./old-postgres.ts";

export interface PostgresReplica {
  url: string;
  start(): void;
  stop(): Promise<void>;
}

/** A standby that follows the server of the address by streaming. It is not started. */
export async function makeReplica(mainUrl: string, folder: string): Promise<PostgresReplica> {
  const own = account();
  const data = join(folder, "replica");
  mkdirSync(data, { mode: 0o700 });
  if (own.uid !== undefined && own.gid !== undefined) chownSync(data, own.uid, own.gid);
  const args = ["-D", data, "-d", mainUrl, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"];
  const { status, stderr } = spawnSync(join(oldBin, "pg_basebackup"), args, { ...own, cwd: "/", encoding: "utf8" });
  if (status !== 0) throw new Error(`pg_basebackup: ${stderr}`);
  const port = await freeLowPort();
  const url = new URL(mainUrl);
  url.port = port;
  let server: ChildProcess | undefined;
  return {
    url: url.href,
    start: () => {
      const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "unix_socket_directories=", "hot_standby=on"];
      const flags = ["-D", data, ...settings.flatMap((one) => ["-c", one])];
      server = spawn(join(oldBin, "postgres"), flags, { ...own, cwd: "/", stdio: "ignore" });
    },
    stop: async () => {
      if (!server || server.exitCode !== null) return;
      const ended = new Promise<void>((done) => server?.once("exit", () => done()));
      server.kill("SIGINT");
      await ended;
    },
  };
}

// Starts a coordinator of Citus with its workers in a temporary folder, prints the address, and ends them with Ctrl+C. On stdin it
// takes "kill NODE" (-9, with all its processes), "stop NODE" and "start NODE", and answers each with the same line.
// For developers: Citus is not part of this project, and the folder of programs must bring it (see docs/developers/citus.md).
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import pg from "pg";

const { values: options } = parseArgs({
  options: {
    bin: { type: "string" },
    workers: { type: "string", default: "2" },
    database: { type: "string", default: "vigil" },
    "no-fsync": { type: "boolean", default: false },
    // One server of the same programs without Citus, to compare with.
    plain: { type: "boolean", default: false },
  },
});
if (options.bin === undefined) {
  console.error(
    "usage: node scripts/citus-cluster.mjs --bin FOLDER [--workers N] [--database NAME] [--no-fsync] [--plain]",
  );
  process.exit(2);
}

const user = "vigil";
const account = ownAccount();
const folder = mkdtempSync(join(tmpdir(), "vigil-citus-"));
if (account.uid !== undefined) chownSync(folder, account.uid, account.gid);
const nodes = [];

/** PostgreSQL refuses root. */
function ownAccount() {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const [, , uid, gid] = (lines.find((line) => /^(postgres|nobody):/.test(line)) ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

function run(program, args) {
  execFileSync(join(options.bin, program), args, { ...account, cwd: "/", stdio: ["ignore", "ignore", "inherit"] });
}

const freePort = () =>
  new Promise((done, fail) => {
    const server = createServer();
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

async function startNode(name) {
  const data = join(folder, name);
  mkdirSync(data);
  if (account.uid !== undefined) chownSync(data, account.uid, account.gid);
  // Sorted by code point, and with letters beyond ASCII in lower(), as in the embedded database.
  run("initdb", ["-D", data, `--username=${user}`, "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8"]);
  const port = await freePort();
  const settings = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    ...(options.plain ? {} : { shared_preload_libraries: "citus", "citus.node_conninfo": "sslmode=prefer" }),
    wal_level: "logical",
    max_connections: 300,
    max_prepared_transactions: 300,
    fsync: options["no-fsync"] ? "off" : "on",
  };
  const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value}'\n`);
  appendFileSync(join(data, "postgresql.conf"), lines.join(""));
  const node = { name, data, port, log: join(folder, `${name}.log`) };
  try {
    start(node);
  } catch (error) {
    console.error(readFileSync(node.log, "utf8"));
    throw error;
  }
  nodes.push(node);
  await query(node, "postgres", `create database ${options.database}`);
  if (!options.plain) await query(node, options.database, "create extension citus");
  return node;
}

async function query({ port }, database, ...statements) {
  const client = new pg.Client({ host: "127.0.0.1", port, user, database });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

const start = ({ data, log }) => run("pg_ctl", ["-D", data, "-l", log, "-w", "-t", "120", "start"]);

function kill({ data }) {
  const pid = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0];
  // Stopped first, it starts no more of them.
  spawnSync("kill", ["-STOP", pid]);
  const children = spawnSync("pgrep", ["-P", pid], { encoding: "utf8" }).stdout.split("\n").filter(Boolean);
  for (const one of [pid, ...children]) spawnSync("kill", ["-9", one]);
}

/** What is left of a killed server may hold its memory for a moment. */
function startAgain(node) {
  for (let attempt = 1; ; attempt++) {
    try {
      return start(node);
    } catch (error) {
      if (attempt === 10) throw error;
      spawnSync("sleep", ["1"]);
    }
  }
}

const orders = {
  kill,
  start: startAgain,
  stop: ({ data }) => run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]),
};

function stop() {
  for (const { data } of nodes) {
    try {
      run("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
    } catch {
      // It was stopped by hand, which is what the folders are printed for.
    }
  }
  rmSync(folder, { recursive: true, force: true });
}

try {
  const coordinator = await startNode("coordinator");
  const workers = [];
  for (let index = 1; !options.plain && index <= Number(options.workers); index++)
    workers.push(await startNode(`worker-${index}`));
  const joining = [
    `select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`,
    ...workers.map(({ port }) => `select citus_add_node('127.0.0.1', ${port})`),
  ];
  if (!options.plain) await query(coordinator, options.database, ...joining);
  console.log(`postgres://${user}@127.0.0.1:${coordinator.port}/${options.database}`);
  for (const { name, data, port } of nodes) console.log(`${name} ${port} ${data}`);
} catch (error) {
  stop();
  throw error;
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    stop();
    process.exit(0);
  });
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const [order, name] = line.split(" ");
  const node = nodes.find((one) => one.name === name);
  try {
    if (node) orders[order]?.(node);
    console.log(line);
  } catch (error) {
    console.log(`failed ${line}: ${error.message}`);
  }
});
setInterval(() => undefined, 60_000);

import { connect } from "node:net";
import { openReadWorld } from "./read-world.ts";

/**
 * Compares the answers of this tree, byte for byte and with their headers, with those of another one on the same database:
 * `npx tsx test/bench/same-answers.ts OTHER_TREE/bin/vigil`. The time of day and what is left of the quota are left out. Each
 * request is sent several times, because an answer may come on another way once it is warm.
 */
const [program] = process.argv.slice(2);
if (program === undefined) throw new Error("name the bin/vigil of the other tree");
const uid = "350000000000007";
const device = `/api/v1/devices/${uid}`;
const turns = 4;
// What is counted back from now differs between two calls.
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const window = `ts_after=${minutesAgo(300)}&ts_before=${minutesAgo(60)}`;

const lists = [
  "devices",
  "events",
  "geofences",
  "auth/users",
  "assignments",
  "organizations/invitations",
  "thresholds",
];
const pages = [
  "",
  "?page_size=3",
  "?page=2&page_size=7",
  "?page=last",
  "?page=9999",
  "?page_size=x",
  "?search=watch",
  "?ordering=-name",
];
const paths = [
  ...lists.flatMap((list) => pages.map((page) => `/api/v1/${list}/${page}`)),
  "/api/v1/organizations/self/",
  "/api/v1/models/",
  "/api/v1/audit-log/?page_size=5",
  "/api/v1/messages/",
  "/api/v1/commands/",
  "/api/v1/devices/?is_online=true&ordering=-last_seen_at&page_size=200",
  "/api/v1/devices/?tags=ward-7&device_model_slug=iw-h10",
  "/api/v1/devices/?page_size=20&page_size=2",
  "/api/v1/devices?page_size=2",
  "/api/v1/devices/350000000009999/",
  "/api/v1/devices/nonsense/",
  "/api/v1/nowhere/",
  "/nowhere",
  ...[
    "",
    "config/",
    "capabilities/",
    "locations/latest/",
    "telemetry/latest/",
    "locations/segments/?ts_after=2026-01-01T00:00:00Z&ts_before=2026-01-02T00:00:00Z",
    `locations/segments/?${window}`,
  ].map((path) => `${device}/${path}`),
  ...["locations", "telemetry", "ecg"].flatMap((list) =>
    ["", "?page_size=5", "?order=asc&page_size=5", "?ordering=x", "?cursor=x", "?search=tim"].map(
      (page) => `${device}/${list}/${page}`,
    ),
  ),
];

interface Asked {
  raw: string;
  body: string;
}

/** One answer over a connection of its own. */
function ask(address: string, head: string): Promise<Asked> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const raw = masked(Buffer.concat(chunks).toString("utf8"));
      resolve({ raw, body: raw.slice(raw.indexOf("\r\n\r\n") + 4) });
    });
    socket.write(`${head}\r\nHost: a\r\nX-Request-Id: same\r\nConnection: close\r\n`);
    socket.write("\r\n");
  });
}

const masked = (answer: string): string => {
  const end = answer.indexOf("\r\n\r\n");
  const head = answer
    .slice(0, end)
    .replace(/^date: .*$/im, "date: -")
    .replace(/^(ratelimit|x-ratelimit-remaining|x-ratelimit-reset): .*$/gim, "$1: -");
  return head + answer.slice(end);
};

const baseUrl = { VIGIL_BASE_URL: "https://vigil.example" };
const world = await openReadWorld();
const [now, before] = [await world.start(baseUrl), await world.start({ ...baseUrl, VIGIL_TEST_PROGRAM: program })];
let [asked, different] = [0, 0];

async function compare(path: string, headers = `Authorization: ${world.authorization}`): Promise<Asked | undefined> {
  let last: Asked | undefined;
  for (let turn = 0; turn < turns; turn++) {
    const head = `GET ${path} HTTP/1.1\r\n${headers}`;
    const [ours, theirs] = [await ask(now.http, head), await ask(before.http, head)];
    asked++;
    last = ours;
    if (ours.raw === theirs.raw) continue;
    different++;
    console.log(`${path}\n--- before\n${theirs.raw}\n--- now\n${ours.raw}`);
  }
  return last;
}

try {
  for (const path of paths) {
    const answer = await compare(path);
    // The pages before and after, as their links name them.
    const next = /"next":"https:\/\/vigil\.example([^"]+)"/.exec(answer?.body ?? "")?.[1];
    const second = next === undefined ? undefined : await compare(next);
    const previous = /"previous":"https:\/\/vigil\.example([^"]+)"/.exec(second?.body ?? "")?.[1];
    if (previous !== undefined) await compare(previous);
  }
  for (const headers of ["Authorization: Bearer vgl_nonsense", "Authorization: Basic x", "Accept: */*"]) {
    await compare(`${device}/`, headers);
  }
  console.log(`${asked} answers of each, ${different} different`);
} finally {
  await now.kill("SIGTERM");
  await before.kill("SIGTERM");
  await world.close();
}
process.exitCode = different === 0 ? 0 : 1;

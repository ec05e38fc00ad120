import { databaseReads, loadReads, openReadWorld, type Read, type ReadWorld, startBareServer } from "./read-world.ts";
import { median, type Row } from "./report.ts";
import { undisturbed } from "./undisturbed.ts";

const isQuick = process.argv.includes("--quick");
const rounds = isQuick ? 3 : 5;
/** `--round-ms 1000` for shorter rounds. */
const roundAt = process.argv.indexOf("--round-ms");
const roundMs = roundAt >= 0 ? Number(process.argv[roundAt + 1]) : isQuick ? 1000 : 2000;
/** A service has run for hours, but one that has just started is compiled for some ten seconds of load more, the bare route for two. */
const firstWarmUpMs = isQuick ? 1000 : 10_000;
const warmUpMs = isQuick ? 1000 : 3000;

/** Ours and the bare server in turns. */
async function compare(
  world: ReadWorld,
  bare: string,
  { what, path, barePath }: Read,
  warmMs = warmUpMs,
): Promise<Row> {
  const { http, authorization } = world;
  const [ours, limit]: [number[], number[]] = [[], []];
  await loadReads(http, path, authorization, warmMs);
  await loadReads(bare, barePath, authorization, warmMs);
  for (let round = 0; round < rounds; round++) {
    ours.push(await undisturbed(() => loadReads(http, path, authorization, roundMs)));
    limit.push(await undisturbed(() => loadReads(bare, barePath, authorization, roundMs)));
  }
  const ratios = ours.map((value, index) => value / (limit[index] as number));
  return { what, ours: median(ours), bare: median(limit), unit: "requests/s", ratios, goal: 0.6 };
}

/**
 * API reads with token, rate limit and request id: answers from memory against a route that returns the same bytes, and reads of
 * the database against a route with prepared and pipelined statements.
 */
export async function benchHttp(): Promise<Row[]> {
  const world = await openReadWorld();
  try {
    const rows: Row[] = [];
    for (const path of ["/api/v1/organizations/self/", "/api/v1/models/"]) {
      const { authorization } = world;
      const body = await (await fetch(world.http + path, { headers: { authorization } })).text();
      const bare = await startBareServer("bare-server.ts", [body]);
      const what = `GET ${path} (${body.length} bytes)`;
      rows.push(await compare(world, bare.address, { what, path, barePath: "/" }, firstWarmUpMs));
      bare.stop();
    }
    for (const read of databaseReads) rows.push(await compare(world, world.bare.address, read));
    return rows;
  } finally {
    await world.close();
  }
}

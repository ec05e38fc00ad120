import { join } from "node:path";
import { withEmbedded } from "../support/embedded-client.ts";
import { registerFleet } from "../support/fleet.ts";
import { fillLog } from "../support/log-rows.ts";
import { type Credentials, fetchTokenOf, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";
import { cpuMs, databaseCpuMs } from "./process-cpu.ts";
import { loadReads } from "./read-world.ts";
import { makeCertificates, openReceiverProcess } from "./receiver-process.ts";
import type { Row } from "./report.ts";

const deliveries = 20_000;
const roundMs = 3000;

/** CPU of both sides for a delivery and for a read of the API. Prints microseconds for test/bench/capacity/figures.json; compares nothing. */
export async function benchUnitCosts(): Promise<Row[]> {
  const folder = await tempFolder();
  await makeCertificates(folder.path);
  const receiver = await openReceiverProcess(folder.path);
  const env = {
    VIGIL_LOG_LEVEL: "warn",
    VIGIL_PROCESSES: "1",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
  };
  const where = ["--data-dir", folder.path];
  const service = await startVigil(where, env);
  const pid = service.process.pid as number;
  const counts = (): [number, number] => [cpuMs(pid), databaseCpuMs(folder.path)];
  const print = (what: string, before: [number, number], times: number): void => {
    const [program, database] = counts();
    const us = (ms: number): string => ((ms * 1000) / times).toFixed(0);
    console.log(
      `  ${what}: ${us(program - before[0])} us of the program, ${us(database - before[1])} us of the database`,
    );
  };
  try {
    const limits = ["--per-minute", "1000000000", "--per-hour", "1000000000"];
    await vigilJson(["org", "create", "--name", "Bench", "--slug", "bench", ...limits, ...where], env);
    const options = ["--org", "bench", "--name", "Bench", "--webhook-url", receiver.url("/ours"), ...where];
    const integration = await vigilJson<Credentials>(["integration", "create", ...options], env);
    await withEmbedded(folder.path, async (client) => {
      const arrive = async (count: number): Promise<void> => {
        receiver.reset();
        await fillLog(client, integration.id, count);
        while ((await receiver.stats("/ours")).count < count) await new Promise((done) => setTimeout(done, 50));
      };
      await arrive(2000);
      // With what filling the log costs the database, which a packet has paid for otherwise.
      const before = counts();
      await arrive(deliveries);
      print("a delivery", before, deliveries);
      await registerFleet(client, 1000);
      await client.query("update devices set organization_id = (select id from organizations where slug = 'bench')");
    });
    const authorization = `Bearer ${await fetchTokenOf(service.http, integration)}`;
    for (const path of ["/api/v1/organizations/self/", "/api/v1/devices/?page_size=20"]) {
      await loadReads(service.http, path, authorization, roundMs);
      const before = counts();
      const perSecond = await loadReads(service.http, path, authorization, roundMs);
      print(`GET ${path}`, before, (perSecond * roundMs) / 1000);
    }
    return [];
  } finally {
    await service.kill("SIGTERM");
    receiver.child.kill();
    await folder.remove();
  }
}

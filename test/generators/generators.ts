import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { imeis } from "../support/devices.ts";
import {
  type Credentials,
  makeCredentials,
  type RunningVigil,
  startVigil,
  tempFolder,
} from "../support/vigil-process.ts";
import { callForHelp, expectedSteps, runFlow } from "./flow-run.ts";
import { type Generator, generators } from "./generator-list.ts";
import { type Descriptions, isInstalled, openWorkshop } from "./workshop.ts";

/**
 * `npm run generators -- [NAME ...] [--folder PATH]`: clients by the generators that partners use, made from the description of a
 * running service, compiled, and sent through the same flow: token, user, device, assignment, geofence, locations, replay. A
 * generator whose tools are not installed is left out, with the reason. The folder keeps what was fetched and generated.
 */
const args = process.argv.slice(2);
const folderAt = args.indexOf("--folder");
const tools = resolve(folderAt < 0 ? join(tmpdir(), "vigil-generators") : (args[folderAt + 1] ?? ""));
const names = args.filter((one, index) => !one.startsWith("--") && (folderAt < 0 || index !== folderAt + 1));
const known = generators.map(({ name }) => name);
const unknown = names.filter((name) => !known.includes(name));
if (args.includes("--help") || unknown.length > 0) {
  console.log(`npm run generators -- [NAME ...] [--folder PATH]; the names are ${known.join(", ")}`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const flowTimeoutMs = 180_000;
const nextImei = imeis();

interface Result {
  outcome: "works" | "fails" | "left out";
  detail: string;
}

async function tryGenerator(
  { name, programs, build }: Generator,
  service: RunningVigil,
  credentials: Credentials,
  descriptions: Descriptions,
): Promise<Result> {
  for (const { name: program, versionFlag } of programs) {
    if (!(await isInstalled(program, versionFlag)))
      return { outcome: "left out", detail: `${program} is not installed` };
  }
  try {
    const workshop = await openWorkshop(name, tools, descriptions);
    const { versions, program, args: flowArgs } = await build(workshop);
    const uid = nextImei();
    const email = `${name}@example.org`;
    let help: Promise<void> | undefined;
    const lines = await runFlow({
      program,
      args: flowArgs,
      folder: workshop.folder,
      timeoutMs: flowTimeoutMs,
      env: {
        VIGIL_URL: service.http,
        VIGIL_CLIENT_ID: credentials.client_id,
        VIGIL_CLIENT_SECRET: credentials.client_secret,
        FLOW_UID: uid,
        FLOW_EMAIL: email,
      },
      onLine: (line) => {
        if (line.startsWith("geofence")) help = callForHelp(service.gateway, uid);
      },
    });
    await help;
    const missing = expectedSteps(uid, email).filter((step, index) => !step.test(lines[index] ?? ""));
    if (missing.length > 0) return { outcome: "fails", detail: `${missing} not in\n${lines.join("\n")}` };
    return { outcome: "works", detail: versions.replaceAll("\n", "") };
  } catch (error) {
    return { outcome: "fails", detail: error instanceof Error ? error.message : String(error) };
  }
}

await mkdir(tools, { recursive: true });
const data = await tempFolder();
const service = await startVigil(["--data-dir", data.path], {
  VIGIL_LOG_LEVEL: "warn",
  VIGIL_GATEWAY_HOST: "127.0.0.1",
});
let failures = 0;
try {
  const credentials = await makeCredentials(["--data-dir", data.path]);
  const save = async (file: string, query: string): Promise<string> => {
    const path = join(tools, file);
    await writeFile(path, await (await fetch(`${service.http}/api/schema/?format=json${query}`)).text());
    return path;
  };
  const descriptions = { classic: await save("api.json", ""), modern: await save("api-3.1.json", "&version=3.1") };
  for (const generator of generators.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const startedMs = Date.now();
    const { outcome, detail } = await tryGenerator(generator, service, credentials, descriptions);
    if (outcome === "fails") failures += 1;
    console.log(`${generator.name}: ${outcome} after ${Math.round((Date.now() - startedMs) / 1000)} s (${detail})`);
  }
} finally {
  await service.kill("SIGTERM");
  await data.remove();
}
process.exit(failures > 0 ? 1 : 0);

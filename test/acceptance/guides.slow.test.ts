import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createClient } from "../../client/src/vigil-client.ts";
import { iwLogin, iwSos } from "../support/fleet.ts";
import { freeLowPort } from "../support/free-port.ts";
import { openPython, pythonClient } from "../support/python.ts";
import { openSocketDevice, type SocketDevice } from "../support/socket-device.ts";
import { makeCredentials, type RunningVigil, runVigil, startVigil, tempFolder } from "../support/vigil-process.ts";

/** The code of the guides, run as it stands there, each in an empty folder, until it has printed what the guide promises. */
const root = resolve(import.meta.dirname, "../..");
const uid = "490154203237518";
const limitMs = 120_000;
const languages = ["ts", "python", "sh"] as const;
type Language = (typeof languages)[number];

const python = await openPython();
const hasJq = spawnSync("jq", ["--version"]).status === 0;
const canRun: Record<Language, boolean> = { ts: true, python: python !== undefined, sh: hasJq };

let folder: Awaited<ReturnType<typeof tempFolder>>;
let service: RunningVigil;
let watch: SocketDevice;
let phone: Server;
let pushed: string[];
let env: Record<string, string>;
let integrationId: string;

beforeAll(async () => {
  folder = await tempFolder();
  service = await startVigil(["--data-dir", folder.path], {
    VIGIL_LOG_LEVEL: "fatal",
    VIGIL_GATEWAY_HOST: "127.0.0.1",
  });
  const { id, client_id, client_secret } = await makeCredentials(["--data-dir", folder.path]);
  integrationId = id;
  pushed = [];
  phone = createServer(async (request, response) => {
    pushed.push(await text(request));
    response.end();
  });
  await new Promise<void>((done) => phone.listen(0, "127.0.0.1", done));
  env = {
    VIGIL_URL: service.http,
    VIGIL_CLIENT_ID: client_id,
    VIGIL_CLIENT_SECRET: client_secret,
    PUSH_URL: `http://127.0.0.1:${(phone.address() as AddressInfo).port}/`,
    DEVICE_UID: uid,
    PORT: await freeLowPort(),
    VIGIL_WEBHOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString("base64")}`,
    DAY: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
  };
  const client = createClient({ baseUrl: service.http, clientId: client_id, clientSecret: client_secret });
  await client.devices.create({ uid, device_model_slug: "iw-h10", name: "Anna" });
  watch = await openSocketDevice(Number(service.gateway.split(":").at(-1)));
  watch.write(Buffer.from(iwLogin(uid)));
  await watch.until(/IWBP00/);
  watch.write(Buffer.from(iwSos(Date.parse(`${env.DAY}T12:00:00Z`))));
  await watch.until(/IWBP10/);
});
afterAll(async () => {
  watch.close();
  phone.close();
  await service.kill("SIGTERM");
  await folder.remove();
  await python?.remove();
});

async function codeOf(name: string, language: Language): Promise<string> {
  const [guide, heading] = name.split("#");
  const page = await readFile(join(root, "docs/partners/guides", `${guide}.md`), "utf8");
  const section = heading === undefined ? page : page.slice(page.indexOf(`\n## ${heading}\n`));
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section)?.[1];
  if (code === undefined) throw new Error(`${name} has no code in ${language}`);
  return code.replaceAll('"vigil-client"', JSON.stringify(join(root, "client/src/vigil-client.ts")));
}

/** Runs the code until the check holds, then ends it. Returns what it printed. */
async function run(
  guide: string,
  language: Language,
  check: (output: string) => boolean,
  files: Record<string, string> = {},
): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "vigil-guide-"));
  const file = join(place, { ts: "guide.mts", python: "guide.py", sh: "guide.sh" }[language]);
  await writeFile(file, await codeOf(guide, language));
  for (const [name, content] of Object.entries(files)) await writeFile(join(place, name), content);
  const commands: Record<Language, [string, string[]]> = {
    ts: [process.execPath, ["--import", import.meta.resolve("tsx"), file]],
    python: [python?.program ?? "", [file]],
    sh: ["sh", [file]],
  };
  const [program, args] = commands[language];
  const child: ChildProcess = spawn(program, args, {
    cwd: place,
    env: { ...process.env, ...env, PYTHONPATH: join(pythonClient, "src") },
  });
  let [output, errors] = ["", ""];
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  let isOver = false;
  child.on("exit", () => {
    isOver = true;
  });
  for (const endMs = Date.now() + limitMs; !check(output); await new Promise((done) => setTimeout(done, 50))) {
    if (Date.now() > endMs || (isOver && !check(output))) {
      child.kill("SIGKILL");
      throw new Error(`${guide} in ${language} printed ${JSON.stringify(output)}\n${errors}`);
    }
  }
  child.kill("SIGKILL");
  await rm(place, { recursive: true, force: true });
  return output;
}

async function countEvents(): Promise<number> {
  const { VIGIL_URL = "", VIGIL_CLIENT_ID = "", VIGIL_CLIENT_SECRET = "" } = env;
  const client = createClient({ baseUrl: VIGIL_URL, clientId: VIGIL_CLIENT_ID, clientSecret: VIGIL_CLIENT_SECRET });
  return (await client.outboundEvents.page({ limit: 500 })).data.length;
}

describe.each(languages)("the guides in %s", (language) => {
  const runs = it.skipIf(!canRun[language]);

  runs("print the first SOS", async () => {
    await run("first-event", language, (output) => output.includes(`SOS of ${uid}: SOS pressed`));
  });

  // A shell cannot listen.
  if (language !== "sh")
    runs("print the first SOS that comes as a webhook", async () => {
      const { PORT = "", VIGIL_WEBHOOK_SECRET = "" } = env;
      const hook = `http://127.0.0.1:${PORT}/hook`;
      const receives = run("first-event#As a webhook", language, (output) =>
        output.includes(`SOS of ${uid}: SOS pressed`),
      );
      const answers = async (): Promise<void> => expect((await fetch(hook, { method: "POST" })).status).toBe(401);
      await vi.waitFor(answers, { timeout: limitMs, interval: 100 });
      const forwarding = ["--integration", integrationId, "--forward", hook, "--secret", VIGIL_WEBHOOK_SECRET];
      const all = ["--since", "00000000-0000-0000-0000-000000000000", "--count", String(await countEvents())];
      const { code, stderr } = await runVigil(["webhooks", "listen", ...forwarding, ...all, "--data-dir", folder.path]);
      expect([code, stderr]).toEqual([0, expect.stringMatching(/ alarm\.sos {2}200\n/)]);
      await receives;
    });

  runs("send an alarm to a phone", async () => {
    pushed.length = 0;
    await run("alarms-to-a-phone", language, () => pushed.some((one) => /^(Anna|490154203237518): SOS/.test(one)));
  });

  runs("draw one geofence round a home", async () => {
    const printed = (output: string): boolean => output.includes(`Home of ${uid}: 150 m`);
    await run("geofence-round-a-home", language, printed);
    await run("geofence-round-a-home", language, printed);
    const { VIGIL_URL = "", VIGIL_CLIENT_ID = "", VIGIL_CLIENT_SECRET = "" } = env;
    const client = createClient({ baseUrl: VIGIL_URL, clientId: VIGIL_CLIENT_ID, clientSecret: VIGIL_CLIENT_SECRET });
    expect(await client.geofences.list({ search: "Home of" }).toArray()).toHaveLength(1);
  });

  runs("export the positions of a day", async () => {
    const row = new RegExp(`^${uid},${env.DAY}T12:00:00.000Z,41\\.90\\d*,12\\.49\\d*,\\d*(?:\\.\\d+)?,gps$`, "m");
    const output = await run("nightly-export", language, (printed) => row.test(printed));
    expect(output).toMatch(/^device,ts,lat,lng,accuracy_m,source$/m);
  });

  runs("move devices from Traccar", async () => {
    const imei = `4901542032380${languages.indexOf(language)}0`;
    const devices = [
      { id: 1, name: "Bus", uniqueId: imei },
      { id: 2, name: "Old", uniqueId: "12" },
    ];
    const positions = [
      { deviceId: 1, protocol: "gt06" },
      { deviceId: 2, protocol: "gt06" },
    ];
    const files = { "devices.json": JSON.stringify(devices), "positions.json": JSON.stringify(positions) };
    const output = await run("migration-from-traccar", language, (printed) => /^12 Old: /m.test(printed), files);
    expect(output).toContain(`${imei} Bus: registered\n`);
  });
});

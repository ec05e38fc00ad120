import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { makeAuthority } from "../support/certificates.ts";
import { hasPrometheus, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { openRawSocket } from "../support/raw-socket.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { openUdpDevice } from "../support/udp-device.ts";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "../support/vigil-process.ts";

/** A run of the demo that a real Prometheus scrapes: the queries of every dashboard against what it has seen. */
const deploy = resolve(import.meta.dirname, "../../deploy");
const dashboards = readdirSync(join(deploy, "grafana")).map((file) => {
  const { title, panels } = JSON.parse(readFileSync(join(deploy, "grafana", file), "utf8")) as {
    title: string;
    panels: { title: string; targets: { expr: string }[] }[];
  };
  return { title, panels };
});

/** What a healthy service does not have. */
const rare =
  /status="503"|_(poisoned|media_refused|webhook_lag|problems|retries|takeovers|duplicates|deferred|faults|datagrams_dropped)_/;

interface Demo extends Credentials {
  organization: { slug: string };
  devices: string[];
}

const authority = makeAuthority();
const places = createServer((request, response) => {
  request.resume();
  const body =
    request.method === "POST" ? { location: { lat: 41.9, lng: 12.5 }, accuracy: 500 } : { display_name: "Roma" };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
});
let folder: Awaited<ReturnType<typeof tempFolder>>;
let receiver: Receiver | undefined;
let service: RunningVigil | undefined;
let prometheus: Prometheus | undefined;

describe.skipIf(!hasPrometheus)("a Prometheus that scrapes the demo", () => {
  beforeAll(async () => {
    folder = await tempFolder();
    receiver = await openReceiver(authority);
    await new Promise<void>((done) => places.listen(0, "127.0.0.1", done));
    const placeUrl = `http://127.0.0.1:${(places.address() as AddressInfo).port}/`;
    await writeFile(join(folder.path, "ca.pem"), authority.ca);
    const env = {
      VIGIL_DATA_DIR: join(folder.path, "data"),
      VIGIL_GATEWAY_HOST: "127.0.0.1",
      VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
      VIGIL_WEBHOOK_CA_FILE: join(folder.path, "ca.pem"),
      VIGIL_GEOCODER_URL: placeUrl,
      VIGIL_GEOLOCATE_URL: placeUrl,
      VIGIL_LOG_LEVEL: "warn",
    };
    service = await startVigil(["--devices", "6"], env, "demo");
    prometheus = await startPrometheus(new URL(service.ops).host, join(deploy, "prometheus/vigil-alerts.yaml"));
    await useEverything(service, service.document as unknown as Demo, env, receiver.url);
  }, 400_000);
  afterAll(async () => {
    await prometheus?.close();
    await service?.kill("SIGTERM");
    await receiver?.close();
    places.close();
    places.closeAllConnections();
    await folder?.remove();
  });

  it("has an answer for every query of every panel", { timeout: 400_000 }, async () => {
    await vi.waitFor(async () => expect(await emptyQueries()).toEqual([]), { timeout: 300_000, interval: 10_000 });
  });

  it("evaluates every alert rule, and no alert is firing", async () => {
    expect(await prometheus?.count('ALERTS{alertstate="firing"}')).toBe(0);
    expect(await prometheus?.count("prometheus_rule_evaluation_failures_total > 0")).toBe(0);
  });
});

async function emptyQueries(): Promise<string[]> {
  const empty: string[] = [];
  for (const { title, panels } of dashboards) {
    for (const panel of panels) {
      for (const { expr } of panel.targets) {
        const whole = expr.replaceAll("$job", "vigil").replaceAll("$__rate_interval", "2m");
        // The zero that stands in for an absent series must not hide a query that finds nothing.
        const query = rare.test(expr) ? whole : whole.replace(/ or vector\(0\)$/, "");
        if ((await prometheus?.count(query)) === 0) empty.push(`${title}, ${panel.title}: ${expr}`);
      }
    }
  }
  return empty;
}

/** What the demo does not do by itself: a webhook, a mail, a spoken text, a stranger, stray bytes, a datagram, a refused call. */
async function useEverything(
  { http, gateway }: RunningVigil,
  demo: Demo,
  env: Record<string, string>,
  webhookUrl: string,
): Promise<void> {
  const { slug } = demo.organization;
  const create = ["integration", "create", "--org", slug, "--name", "Receiver", "--webhook-url", webhookUrl];
  // A busy machine may be too slow for the time limit of a connection.
  await vi.waitFor(() => vigilJson(create, env), { timeout: 120_000, interval: 5000 });
  const token = await fetchTokenOf(http, demo);
  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${http}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const uid = demo.devices[0] as string;
  expect((await call("GET", "/devices/000000000000000/")).status).toBe(404);
  const made = await call("POST", "/auth/users/", { email: "ada@example.org", first_name: "Ada", last_name: "L" });
  const { id } = (await made.json()) as { id: string };
  expect((await call("POST", `/auth/users/${id}/invite/`)).status).toBe(202);
  await call("POST", `/devices/${uid}/messages/send-tts/`, { text: "Good morning", language: "en" });
  await call("POST", `/devices/${uid}/commands/`, { command_type: "locate", params: {} });
  const port = Number(gateway.split(":").at(-1));
  const stranger = await openRawSocket(port);
  stranger.write("IWAP00490154203237518#");
  await stranger.untilClosed();
  const garbage = await openRawSocket(port);
  garbage.write("\u0000\u0001\u0002 nothing that any protocol says\r\n");
  const datagrams = await openUdpDevice(port);
  datagrams.write("nothing");
  garbage.close();
  datagrams.close();
}

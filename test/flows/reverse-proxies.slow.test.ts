import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listUnknownDevices } from "../../src/resources/devices/unknown-device-store.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import { makeAuthority } from "../support/certificates.ts";
import { imeis } from "../support/devices.ts";
import { listen } from "../support/event-source.ts";
import { makeEvent } from "../support/events.ts";
import { makeDevice } from "../support/fixtures.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { logInto } from "../support/log-lines.ts";
import {
  example,
  freePort,
  hasCaddy,
  hasHaproxy,
  hasNginx,
  hasNginxStream,
  type ProxyProcess,
  startCaddy,
  startHaproxy,
  startNginx,
} from "../support/proxy-process.ts";
import { openTracker } from "../support/tracker.ts";
import { makeOrganization, makePerson } from "../support/world.ts";

/** Any of 127.0.0.0/8 will do for a device or a browser; the proxies themselves come from 127.0.0.1. */
const deviceAddress = "127.0.0.5";
const browserAddress = "127.0.0.6";

describe("the device port behind a proxy with the PROXY protocol", () => {
  const nextImei = imeis();
  let world: GatewayWorld;
  let gateway: TestGateway;

  beforeAll(async () => {
    world = await openGatewayWorld();
    gateway = await world.open({ proxyNetworks: ["127.0.0.1/32"] });
  });
  afterAll(() => world.close());

  async function shows(start: (port: number, gatewayPort: string) => Promise<ProxyProcess>): Promise<void> {
    const port = await freePort();
    const proxy = await start(port, String(gateway.address.port));
    try {
      const uid = nextImei();
      await world.addDevice(uid);
      const device = await openTracker(port, uid, deviceAddress);
      device.send(1);
      await device.until("ok 1");
      await device.close();
      const stranger = nextImei();
      const refused = await openTracker(port, undefined, deviceAddress);
      refused.write(`{"login":"${stranger}"}\n`);
      await refused.untilClosed();
      await vi.waitFor(async () => {
        const row = (await listUnknownDevices(world.db, 100)).find(({ imei }) => imei === stranger);
        expect(row?.remote_addr).toBe(deviceAddress);
      }, 10_000);
    } finally {
      await proxy.close();
    }
  }

  it.skipIf(!hasNginxStream)("keeps the addresses of devices behind nginx (version 1)", () =>
    shows(async (port, gatewayPort) => {
      const places = { "listen 7700": `listen 127.0.0.1:${port}`, "listen [::]:7700": "# listen", "7701": gatewayPort };
      return startNginx("stream", (await example("nginx-devices.conf", places)).replace(/^ *# listen.*$/m, ""), port);
    }),
  );

  it.skipIf(!hasHaproxy).each([
    ["version 1", "send-proxy"],
    ["version 2", "send-proxy-v2"],
  ])("keeps the addresses of devices behind HAProxy (%s)", (_, option) =>
    shows(async (port, gatewayPort) => {
      const places = { ":::7700 v4v6": `127.0.0.1:${port}`, "send-proxy-v2": option, "7701": gatewayPort };
      return startHaproxy(
        await example("haproxy.cfg", { ...places, "log /dev/log local0": "", "maxconn 200000": "maxconn 1000" }),
        port,
      );
    }),
  );
});

interface FrontServer {
  name: string;
  isInstalled: boolean;
  start(port: number, apiPort: number, files: Record<string, string>): Promise<ProxyProcess>;
}

const nginx: FrontServer = {
  name: "nginx",
  isInstalled: hasNginx,
  start: async (port, apiPort, files) => {
    const configuration = await example("nginx.conf", {
      "listen [::]:443 ssl http2;": "",
      "listen [::]:80;": "",
      "listen 443 ssl http2": `listen 127.0.0.1:${port} ssl http2`,
      "listen 80": `listen 127.0.0.1:${await freePort()}`,
      "127.0.0.1:8080": `127.0.0.1:${apiPort}`,
      "/etc/ssl/vigil.example.org.pem": "FOLDER/cert.pem",
      "/etc/ssl/vigil.example.org.key": "FOLDER/key.pem",
    });
    return startNginx("http", configuration, port, files);
  },
};

const caddy: FrontServer = {
  name: "Caddy",
  isInstalled: hasCaddy,
  start: async (port, apiPort, files) => {
    const head = `https://vigil.example.org:${port} {\n\tbind 127.0.0.1\n\ttls FOLDER/cert.pem FOLDER/key.pem`;
    const places = { "vigil.example.org {": head, "127.0.0.1:8080": `127.0.0.1:${apiPort}` };
    return startCaddy(await example("Caddyfile", places), port, files);
  },
};

describe.each([nginx, caddy])("the API and the console behind $name", ({ isInstalled, start }) => {
  const authority = makeAuthority();
  const lines: string[] = [];
  let api: TestApi;
  let proxy: ProxyProcess;
  let port: number;

  beforeAll(async () => {
    if (!isInstalled) return;
    api = await openTestApi({ isPrivate: true, trustProxy: ["127.0.0.1/32"], log: logInto(lines) });
    await listen(api);
    const apiPort = (api.app.server.address() as AddressInfo).port;
    port = await freePort();
    const { key, cert } = authority.issue(["vigil.example.org"]);
    proxy = await start(port, apiPort, { "cert.pem": cert, "key.pem": key });
  });
  afterAll(async () => {
    await proxy?.close();
    await api?.close();
  });

  /** Over TLS with the proxy's certificate checked. Resolves when `isEnough` or with the end of the answer. */
  const call = (
    path: string,
    headers: Record<string, string> = {},
    { body, isEnough = () => false }: { body?: Buffer; isEnough?: (text: string) => boolean } = {},
  ): Promise<{ status: number; headers: Record<string, unknown>; text: string }> =>
    new Promise((done, fail) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port,
          localAddress: browserAddress,
          servername: "vigil.example.org",
          ca: authority.ca,
          path,
          method: body ? "POST" : "GET",
          headers: { host: "vigil.example.org", ...headers },
          agent: false,
        },
        (answer) => {
          let text = "";
          const finish = (): void => done({ status: answer.statusCode ?? 0, headers: answer.headers, text });
          answer.on("data", (chunk) => {
            text += chunk;
            if (!isEnough(text)) return;
            finish();
            sent.destroy();
          });
          answer.on("end", finish).on("error", fail);
        },
      );
      sent.on("error", fail).end(body);
    });

  it.skipIf(!isInstalled)(
    "logs the address of the caller, not that of the proxy, and believes no header of the caller",
    async () => {
      const { status } = await call("/api/v1/devices/", {
        "x-forwarded-for": "203.0.113.9",
        "x-request-id": "through-tls",
      });
      expect(status).toBe(401);
      const line = await vi.waitFor(
        () => {
          const found = lines.find((one) => one.includes("through-tls"));
          expect(found).toBeDefined();
          return JSON.parse(found as string) as { address: string };
        },
        { timeout: 10_000, interval: 20 },
      );
      expect(line.address).toBe(browserAddress);
    },
  );

  it.skipIf(!isInstalled)("passes each event of the live stream on at once", async () => {
    const organization = await makeOrganization(api);
    const device = await makeDevice(api, organization);
    const { token } = await makePerson(api, organization, "ADMIN");
    let event: Promise<unknown> | undefined;
    const { text } = await call(
      "/console/api/stream/",
      { authorization: `Bearer ${token}` },
      {
        isEnough: (soFar) => {
          // The event is made only after the greeting has come through.
          if (soFar.includes("event: hello")) event ??= makeEvent(api, device);
          return soFar.includes("event: event");
        },
      },
    );
    await event;
    expect(text).toContain("event: event");
  });

  it.skipIf(!isInstalled)("lets uploads of 11 MB through to Vigil", async () => {
    const { headers } = await call(
      "/api/v1/devices/",
      { "content-type": "application/octet-stream" },
      { body: Buffer.alloc(11 * 1024 * 1024) },
    );
    expect(headers["x-request-id"]).toBeDefined();
  });
});

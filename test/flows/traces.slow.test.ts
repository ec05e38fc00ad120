import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadConfig } from "../../src/config.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { type RunningService, startService } from "../../src/service.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type CollectedSpan, type Collector, openCollector } from "../support/collector.ts";
import { type CommandLine, type Credentials, openCommandLine } from "../support/command-line.ts";
import { imeis } from "../support/devices.ts";
import { iwSos } from "../support/fleet.ts";
import { type IwWatch, openIwWatch } from "../support/iw-watch.ts";
import { openReceiver, type Receiver, signatureOf } from "../support/receiver.ts";

/** The whole service, with a collector, a partner's receiver and a watch. */
const authority = makeAuthority();
const nextImei = imeis();
const [imei, spare] = [nextImei(), nextImei()];
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpan = "00f067aa0ba902b7";

let collector: Collector;
let receiver: Receiver;
let cli: CommandLine;
let service: RunningService;
let partner: Credentials;
let token: string;
let watch: IwWatch | undefined;

beforeAll(async () => {
  [collector, receiver, cli] = await Promise.all([openCollector(), openReceiver(authority), openCommandLine()]);
  const env = {
    ...cli.env,
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    VIGIL_WEBHOOK_CA_FILE: join(cli.env.VIGIL_DATA_DIR as string, "ca.pem"),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_SERVICE_NAME: "care",
  };
  writeFileSync(env.VIGIL_WEBHOOK_CA_FILE, authority.ca);
  const ports = { port: "0", gatewayPort: "0", opsPort: "0" };
  service = await startService(loadConfig(ports, env), makeLogger("silent"));
  await cli.vigilJson(["org", "create", "--name", "Care Co"]);
  const create = ["integration", "create", "--org", "care-co", "--name", "Partner", "--webhook-url", receiver.url];
  partner = (await cli.vigilJson(create, env)) as Credentials;
  token = await takeToken();
  for (const uid of [imei, spare]) {
    const device = { uid, name: "Nonna Maria", device_model_slug: "iw-h10" };
    expect((await call("POST", "/api/v1/devices/", device)).status).toBe(201);
  }
}, 120_000);
afterAll(async () => {
  watch?.close();
  await service?.close();
  await receiver?.close();
  await collector?.close();
  await cli?.close();
});

async function takeToken(): Promise<string> {
  const answer = await fetch(`${service.http}/o/token/`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: partner.client_id,
      client_secret: partner.client_secret,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.http}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });

const until = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 20_000, interval: 20 });
const ofTrace = (id: string): CollectedSpan[] => collector.state.spans.filter((span) => span.traceId === id);
const named = (spans: readonly CollectedSpan[], name: string | RegExp): CollectedSpan => {
  const found = spans.find((span) => (typeof name === "string" ? span.name === name : name.test(span.name)));
  if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found;
};

test("a packet is one trace from its arrival to the webhook that it causes", async () => {
  watch = await openIwWatch(Number(service.gateway.split(":").at(-1)), imei);
  await watch.send(iwSos(Date.now()));
  const sos = await until(() => {
    const found = receiver.calls.find(({ headers }) => headers["x-event-type"] === "alarm.sos");
    if (!found) throw new Error("no alarm yet");
    return found;
  });
  const [, trace = "", span] = String(sos.headers.traceparent).split("-");
  const spans = await until(() => {
    const found = ofTrace(trace);
    named(found, "webhook alarm.sos");
    named(found, "packet iw");
    return found;
  });
  const packet = named(spans, "packet iw");
  expect(packet).toMatchObject({ kind: 5, attributes: { "vigil.protocol": "iw", "vigil.outcome": "stored" } });
  expect(packet.parentSpanId).toBeUndefined();
  const batch = named(spans, "store batch");
  expect(batch.parentSpanId).toBe(packet.spanId);
  expect(named(spans, /INSERT ingest_frames, SELECT locations$/)).toMatchObject({
    kind: 3,
    parentSpanId: batch.spanId,
  });
  expect(named(spans, /^COPY locations, .*WITH outbound_lanes, COMMIT$/).parentSpanId).toBe(batch.spanId);
  expect(named(spans, "webhook alarm.sos")).toMatchObject({
    spanId: span,
    parentSpanId: packet.spanId,
    kind: 3,
    attributes: { "vigil.event_id": sos.id, "vigil.attempt": "1", "http.response.status_code": "200" },
  });
  expect(collector.state.resource).toMatchObject({ "service.name": "care", "vigil.roles": "api,gateway,worker" });
  // The header is beside what is signed.
  expect(sos.headers["x-signature"]).toBe(signatureOf(partner.webhook_secret ?? "", sos.raw));
});

test("a call goes on with the caller's trace, down to its statements", async () => {
  const headers = { traceparent: `00-${traceId}-${callerSpan}-01` };
  const body = { command_type: "send_message", params: { text: "Take your pills" } };
  const answer = await call("POST", `/api/v1/devices/${spare}/commands/`, body, headers);
  expect(answer.status).toBe(201);
  const server = await until(() => named(ofTrace(traceId), /^POST /));
  expect(server).toMatchObject({
    kind: 2,
    parentSpanId: callerSpan,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/api/v1/devices/:device_uid/commands/",
      "http.response.status_code": "201",
      "vigil.request_id": answer.headers.get("x-request-id"),
    },
  });
  const insert = named(ofTrace(traceId), "INSERT commands");
  expect(insert.parentSpanId).toBe(server.spanId);
  expect(insert.attributes["db.query.text"]).toMatch(/\$1/);
});

test("a webhook that a call causes is part of the call's trace", async () => {
  const trace = traceId.replace("4", "7");
  const headers = { traceparent: `00-${trace}-${callerSpan}-01` };
  // Its command ends with the device, and partners hear of it.
  expect((await call("DELETE", `/api/v1/devices/${spare}/`, undefined, headers)).status).toBe(204);
  const webhook = await until(() => named(ofTrace(trace), "webhook command.failed"));
  expect(webhook.parentSpanId).toBe(named(ofTrace(trace), /^DELETE \/api/).spanId);
});

test("a call that its caller does not record is not recorded here", async () => {
  const unwanted = traceId.replace("4", "5");
  await call("GET", "/api/v1/devices/", undefined, { traceparent: `00-${unwanted}-${callerSpan}-00` });
  await call("GET", "/api/v1/geofences/", undefined, {
    traceparent: `00-${unwanted.replace("5", "6")}-${callerSpan}-01`,
  });
  await until(() => named(ofTrace(unwanted.replace("5", "6")), /geofences/));
  expect(ofTrace(unwanted)).toEqual([]);
});

test("no span tells a token, a text, a name, a position or the id of a device", () => {
  const { text } = collector.state;
  expect(text.length).toBeGreaterThan(1000);
  const secrets = [token, partner.client_id, partner.client_secret, partner.webhook_secret ?? "?", receiver.url];
  for (const secret of [...secrets, imei, spare, "Nonna", "pills", "41.90", "12.49"])
    expect(text).not.toContain(secret);
});

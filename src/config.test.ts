import { resolve } from "node:path";
import { expect, test } from "vitest";
import { ConfigError, loadConfig, parseProcesses } from "./config.ts";

test("the configuration has the documented defaults when nothing is set", () => {
  expect(loadConfig({}, {})).toEqual({
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databaseHotUrls: [],
    dataDir: resolve("./data"),
    host: "127.0.0.1",
    port: 8080,
    gatewayHost: "0.0.0.0",
    gatewayPort: 7700,
    gatewayPorts: [],
    gatewayUdp: true,
    gatewayIdleSeconds: 1800,
    gatewayMaxConnections: 100_000,
    gatewayMaxPerAddress: 20_000,
    gatewayNewPerAddress: 12_000,
    gatewayPacketsPerMinute: 600,
    gatewayNetworks: [],
    gatewayProxyNetworks: [],
    deviceMediaMbPerDay: 20,
    diskFloorMb: 512,
    ingestInFlight: 2,
    workerNice: 5,
    opsPort: 9090,
    baseUrl: undefined,
    roles: ["api", "gateway", "worker"],
    // Of the machine's cores; see below.
    processes: expect.any(Number),
    tokenTtlSeconds: 3600,
    retentionDays: 30,
    clockOffsetSeconds: 0,
    commandAckTimeoutSeconds: 60,
    commandTtlSeconds: 86_400,
    offlineAfterSeconds: 600,
    webhookAllowCidrs: [],
    webhookCaFile: undefined,
    webhookBackoffSeconds: [1, 5, 30, 120, 600],
    webhookTimeoutMs: 10_000,
    geocoderUrl: undefined,
    geolocateUrl: undefined,
    trustProxy: [],
    walArchiveDir: undefined,
    walArchiveSeconds: 60,
    walArchiveDays: 0,
    databasePoolSize: 10,
    statementTimeoutSeconds: 10,
    mapStyleUrl: "",
    smtpUrl: undefined,
    mailFrom: "vigil@localhost",
    speech: { kind: "espeak" },
    logLevel: "info",
    accessLog: false,
    tracing: undefined,
  });
});

test("the configuration lets flags win over the environment", () => {
  const config = loadConfig(
    { port: "1", gatewayPort: "2", opsPort: "3", dataDir: "/flag", roles: "worker, api" },
    { VIGIL_PORT: "11", VIGIL_GATEWAY_PORT: "12", VIGIL_OPS_PORT: "13", VIGIL_DATA_DIR: "/env" },
  );
  expect(config).toMatchObject({ port: 1, gatewayPort: 2, opsPort: 3, dataDir: "/flag", roles: ["api", "worker"] });
});

test("the configuration takes an empty variable for one that is not set", () => {
  expect(loadConfig({}, { VIGIL_PORT: "", DATABASE_URL: "", VIGIL_WEBHOOK_BACKOFF: "" })).toEqual(loadConfig({}, {}));
});

test("the configuration reads lists", () => {
  const config = loadConfig(
    {},
    {
      VIGIL_GATEWAY_PORTS: "iw:7701, watch:7702",
      VIGIL_WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8,127.0.0.1,::1",
      VIGIL_WEBHOOK_BACKOFF: "0.1,2,30",
      VIGIL_TRUST_PROXY: "127.0.0.1, ::1",
      VIGIL_BASE_URL: "https://vigil.example//",
      VIGIL_GEOCODER_URL: "https://geo.example/reverse/",
    },
  );
  expect(config).toMatchObject({
    gatewayPorts: [
      { protocol: "iw", port: 7701 },
      { protocol: "watch", port: 7702 },
    ],
    webhookAllowCidrs: ["10.0.0.0/8", "127.0.0.1/32", "::1/128"],
    webhookBackoffSeconds: [0.1, 2, 30],
    trustProxy: ["127.0.0.1/32", "::1/128"],
    baseUrl: "https://vigil.example",
    geocoderUrl: "https://geo.example/reverse/",
  });
});

test.each([
  ["VIGIL_PORT", "80a"],
  ["VIGIL_PORT", "70000"],
  ["VIGIL_GATEWAY_PORTS", "7701"],
  ["VIGIL_GATEWAY_PORTS", "iw:70000"],
  ["VIGIL_WEBHOOK_ALLOW_CIDRS", "10.0.0.0/40"],
  ["VIGIL_WEBHOOK_ALLOW_CIDRS", "intranet"],
  ["VIGIL_WEBHOOK_BACKOFF", "1,-5"],
  ["VIGIL_WEBHOOK_BACKOFF", ","],
  ["VIGIL_WEBHOOK_TIMEOUT_MS", "0"],
  ["VIGIL_BASE_URL", "vigil.example"],
  ["VIGIL_GEOLOCATE_URL", "ftp://geo.example"],
  ["VIGIL_LOG_LEVEL", "loud"],
  ["VIGIL_RETENTION_DAYS", "0"],
])("the configuration refuses %s=%s and names the setting", (name, value) => {
  expect(() => loadConfig({}, { [name]: value })).toThrow(ConfigError);
  expect(() => loadConfig({}, { [name]: value })).toThrow(name);
});

test.each([
  ["DATABASE_URL", "mysql://root:hunter2@db/vigil"],
  ["VIGIL_SMTP_URL", "http://user:hunter2@mail"],
])("never repeats the password of %s", (name, value) => {
  expect(() => loadConfig({}, { [name]: value })).toThrow(/^(?!.*hunter2)/);
});

test("the configuration refuses an unknown role", () => {
  expect(() => loadConfig({ roles: "api,janitor" }, {})).toThrow("janitor");
  expect(() => loadConfig({ roles: "" }, {})).toThrow("--roles");
});

test("the configuration reads the speech engine", () => {
  const speech = (text: string) => loadConfig({}, { VIGIL_TTS: text }).speech;
  expect(speech("off")).toEqual({ kind: "off" });
  expect(speech("command:espeak-ng -v {language} --stdout")).toEqual({
    kind: "command",
    argv: ["espeak-ng", "-v", "{language}", "--stdout"],
  });
  for (const text of ["http:https://tts.example/v1/audio/speech", "https://tts.example/v1/audio/speech"]) {
    expect(speech(text)).toEqual({ kind: "http", url: "https://tts.example/v1/audio/speech" });
  }
  for (const text of ["on", "command:", "http:tts.example"]) expect(() => speech(text)).toThrow("VIGIL_TTS");
});

test("speaks the PROXY protocol only when it is switched on, and only with proxies that are named", () => {
  const networks = { VIGIL_GATEWAY_PROXY_NETWORKS: "10.0.0.0/8,192.0.2.7" };
  expect(loadConfig({}, networks).gatewayProxyNetworks).toEqual([]);
  const on = { VIGIL_GATEWAY_PROXY_PROTOCOL: "on" };
  expect(loadConfig({}, { ...networks, ...on }).gatewayProxyNetworks).toEqual(["10.0.0.0/8", "192.0.2.7/32"]);
  expect(() => loadConfig({}, on)).toThrow("needs the proxies in VIGIL_GATEWAY_PROXY_NETWORKS");
  expect(() => loadConfig({}, { VIGIL_GATEWAY_PROXY_PROTOCOL: "yes" })).toThrow(ConfigError);
});

test("the configuration has one process below four cores, else one per core", () => {
  const processesOf = (text: string | undefined, cores: number): number => parseProcesses("--processes", text, cores);
  expect([1, 3, 4, 64].map((cores) => processesOf(undefined, cores))).toEqual([1, 1, 4, 16]);
  expect([1, 2, 64].map((cores) => processesOf("auto", cores))).toEqual([1, 2, 16]);
  expect(processesOf("5", 2)).toBe(5);
  for (const wrong of ["0", "17", "-1", "many", ""]) expect(() => processesOf(wrong, 2)).toThrow(ConfigError);
});

test("traces go to the collector that the variables of OpenTelemetry name", () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };
  expect(loadConfig({}, env).tracing).toEqual({
    url: "http://collector:4318/v1/traces",
    headers: {},
    serviceName: "vigil",
    ratio: 1,
  });
  const more = {
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
    OTEL_SERVICE_NAME: "care",
    OTEL_TRACES_SAMPLER_ARG: "0.01",
  };
  expect(loadConfig({}, { ...env, ...more }).tracing).toMatchObject({
    headers: { "x-key": "a b" },
    serviceName: "care",
    ratio: 0.01,
  });
  expect(loadConfig({}, { ...env, OTEL_SDK_DISABLED: "true" }).tracing).toBeUndefined();
});

test.each([
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be an http(s) URL"],
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be http/json"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "secret", "must be headers like name=value"],
  ["OTEL_TRACES_SAMPLER_ARG", "1.5", "must be a share from 0 to 1"],
])("%s=%s stops the start", (name, text, reason) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318", [name]: text };
  expect(() => loadConfig({}, env)).toThrow(new RegExp(`${name} ${reason.replace(/[()]/g, "\\$&")}`));
});

test("a read replica needs a main database of its own, and its address is not repeated", () => {
  const main = "postgres://vigil@db.example/vigil";
  const replica = "postgres://vigil:hunter2@replica.example/vigil";
  const load = (env: Record<string, string>) => loadConfig({}, env).databaseReadUrl;
  expect(load({ DATABASE_URL: main, VIGIL_DATABASE_READ_URL: replica })).toBe(replica);
  expect(() => load({ VIGIL_DATABASE_READ_URL: replica })).toThrow("needs DATABASE_URL");
  expect(() => load({ DATABASE_URL: main, VIGIL_DATABASE_READ_URL: "mysql://a:hunter2@b/c" })).toThrow(
    "VIGIL_DATABASE_READ_URL must be a URL that begins with postgres://",
  );
});

test("workers of the database need a main database of their own, and their addresses are not repeated", () => {
  const main = "postgres://vigil@db.example/vigil";
  const workers = "postgres://vigil:hunter2@one.example/vigil, postgres://vigil:hunter2@two.example/vigil";
  const load = (env: Record<string, string>) => loadConfig({}, env).databaseHotUrls;
  expect(load({ DATABASE_URL: main, VIGIL_DATABASE_HOT_URLS: workers })).toEqual(workers.split(", "));
  expect(() => load({ VIGIL_DATABASE_HOT_URLS: workers })).toThrow("needs DATABASE_URL");
  expect(() => load({ DATABASE_URL: main, VIGIL_DATABASE_HOT_URLS: "mysql://a:hunter2@b/c" })).toThrow(
    "VIGIL_DATABASE_HOT_URLS must be a URL that begins with postgres://",
  );
});

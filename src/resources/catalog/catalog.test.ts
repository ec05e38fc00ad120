import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { metricKeys } from "../../codecs/metric-keys.ts";
import { protocols } from "../../codecs/protocols.ts";
import { COMMAND_TYPES } from "./capability.ts";
import { loadCatalog } from "./catalog.ts";

const catalog = loadCatalog();
const supported = (slug: string, kind: string): string[] =>
  catalog.capabilitiesOf(slug).flatMap((entry) => (entry.kind === kind && entry.supported ? [entry.code] : []));
const capability = (slug: string, code: string) => catalog.capabilitiesOf(slug).find((entry) => entry.code === code);

describe("shipped catalog", () => {
  it.each(protocols.map(({ slug, transports }) => [slug, transports] as const))(
    "knows %s, which the service speaks, with one of its transports",
    (slug, transports) => expect(transports).toContain(catalog.findProtocol(slug)?.transport),
  );

  it("holds the examples of section 15", () => {
    expect(catalog.findProtocol("iw")).toEqual({
      slug: "iw",
      name: "IW health watch",
      vendor: "Various",
      transport: "tcp",
      default_port: 7700,
      is_active: true,
      model_count: 4,
      docs_url: null,
    });
    expect(catalog.findModel("iw-h10")).toEqual({
      slug: "iw-h10",
      name: "H10 health watch",
      manufacturer: "Various",
      protocol_slug: "iw",
      device_type: "watch",
      image_url: null,
      is_active: true,
      metrics: ["bat", "hr", "sbp", "dbp", "spo2", "temp", "steps"],
      has_ecg: true,
      capability_count: 34,
    });
    expect(capability("iw-h10", "calibrate_bp")).toMatchObject({
      kind: "command",
      label: "Calibrate blood pressure",
      category: "health",
      supported: true,
      requires_ack: true,
      ack_timeout_seconds: null,
      params_schema: {
        type: "object",
        required: ["sbp", "dbp"],
        properties: {
          sbp: { type: "integer", minimum: 60, maximum: 250 },
          dbp: { type: "integer", minimum: 30, maximum: 160 },
        },
      },
      source: "catalog",
      overridden: false,
    });
  });

  it("ships the nine protocols and their models, sorted by slug", () => {
    expect(catalog.protocols.map(({ slug }) => slug)).toEqual([
      "gl200",
      "gt06",
      "h02",
      "iw",
      "jt808",
      "minifinder2",
      "osmand",
      "teltonika",
      "watch",
    ]);
    const generic = catalog.protocols.map(({ slug }) => `${slug}-generic`);
    const more = ["gl200-sack", "gt06-r11", "iw-h10", "iw-kids", "iw-pt880", "minifinder2-w101"];
    expect(catalog.models.map(({ slug }) => slug)).toEqual([...generic, ...more].toSorted());
  });

  it.each([
    ["gl200-generic", 4, 2, 0, 6, 0],
    ["gl200-sack", 4, 2, 0, 6, 0],
    ["gt06-generic", 6, 4, 0, 6, 0],
    ["gt06-r11", 6, 2, 0, 5, 0],
    ["h02-generic", 4, 4, 0, 2, 0],
    ["iw-generic", 18, 10, 3, 5, 1],
    ["iw-h10", 18, 7, 3, 5, 1],
    ["iw-kids", 10, 4, 3, 2, 0],
    ["iw-pt880", 18, 9, 3, 7, 0],
    ["jt808-generic", 7, 4, 1, 5, 0],
    ["minifinder2-generic", 1, 6, 0, 7, 0],
    ["minifinder2-w101", 5, 7, 0, 7, 0],
    ["osmand-generic", 0, 1, 0, 1, 0],
    ["teltonika-generic", 2, 3, 0, 2, 0],
    ["watch-generic", 17, 9, 3, 4, 0],
  ])("counts the supported capabilities of %s", (slug, ...counts) => {
    const kinds = ["command", "telemetry", "messaging", "event", "feature"];
    expect(kinds.map((kind) => supported(slug, kind).length)).toEqual(counts);
    expect(catalog.findModel(slug)?.capability_count).toBe(counts.reduce((sum, count) => sum + count, 0));
    expect(catalog.findModel(slug)?.metrics).toEqual(supported(slug, "telemetry"));
  });

  it.each(catalog.models.map(({ slug }) => slug))("shows the whole command table of %s, each code once", (slug) => {
    const codes = catalog.capabilitiesOf(slug).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes).toEqual(expect.arrayContaining([...COMMAND_TYPES, "text", "voice", "tts"]));
    expect(supported(slug, "command").includes("send_message")).toBe(supported(slug, "messaging").includes("text"));
    expect(supported(slug, "messaging").includes("voice")).toBe(supported(slug, "messaging").includes("tts"));
  });

  it("describes the metrics as section 6 does", () => {
    const row = (key: string) => {
      const entry = capability("iw-generic", key);
      return entry?.kind === "telemetry" ? [entry.unit, entry.value_type, entry.min, entry.max, entry.loinc] : entry;
    };
    expect(Object.fromEntries(metricKeys.map((key) => [key, row(key)]))).toEqual({
      bat: ["%", "integer", 0, 100, null],
      hr: ["bpm", "integer", 0, 350, "8867-4"],
      sbp: ["mmHg", "integer", 0, 350, "8480-6"],
      dbp: ["mmHg", "integer", 0, 250, "8462-4"],
      spo2: ["%", "integer", 0, 100, "59408-5"],
      temp: ["Cel", "number", 0, 50, "8310-5"],
      glucose: ["mg/dL", "number", 0, 1000, "2339-0"],
      steps: ["steps", "integer", 0, 1_000_000, "55423-8"],
      gsm_signal: ["level", "integer", 0, 31, null],
      satellites: ["count", "integer", 0, 99, null],
    });
  });

  it("knows which commands a protocol does not acknowledge, and who can be found", () => {
    expect(capability("teltonika-generic", "restart")).toMatchObject({ supported: true, requires_ack: false });
    expect(capability("iw-pt880", "find_device")).toMatchObject({ supported: true, requires_ack: true });
    expect(capability("iw-h10", "find_device")).toMatchObject({ supported: false });
    expect(capability("iw-pt880", "power_off_notice")).not.toHaveProperty("event_type");
  });

  it("limits messages as section 9 does", () => {
    expect(capability("iw-h10", "text")).toMatchObject({ max_length: 200, max_duration_ms: null });
    expect(capability("iw-h10", "voice")).toMatchObject({ max_length: null, max_duration_ms: 30_000 });
    expect(capability("iw-h10", "tts")).toMatchObject({
      max_length: 500,
      languages: ["en", "it", "de", "fr", "es"],
      voices: ["default"],
    });
  });

  it("finds a model only under its own protocol", () => {
    expect(catalog.findModelOf("iw", "iw-h10")?.slug).toBe("iw-h10");
    expect(catalog.findModelOf("watch", "iw-h10")).toBeUndefined();
    expect(catalog.findModelOf("nope", "iw-h10")).toBeUndefined();
    expect(catalog.findModel("nope")).toBeUndefined();
    expect(catalog.findProtocol("nope")).toBeUndefined();
    expect(() => catalog.capabilitiesOf("nope")).toThrow('no model "nope"');
  });

  it("tells the codecs the dialect and the encodings", () => {
    const dialects = ["iw-generic", "iw-h10", "iw-pt880", "iw-kids"].map((slug) => {
      const traits = catalog.traitsOf(slug);
      return traits.protocol_slug === "iw" ? traits.dialect + traits.text_encoding : traits;
    });
    expect(dialects).toEqual(["Autf-16be", "Autf-16be", "Bgb2312", "Cutf-16be"]);
    expect(catalog.traitsOf("jt808-generic")).toMatchObject({ clock_offset_minutes: 480 });
    expect(catalog.traitsOf("osmand-generic")).toEqual({ protocol_slug: "osmand" });
  });

  it("cannot be changed", () => {
    expect(Object.isFrozen(catalog.models)).toBe(true);
    expect(Object.isFrozen(catalog.findModel("iw-h10")?.metrics)).toBe(true);
    const entry = capability("iw-h10", "calibrate_bp");
    expect(entry?.kind === "command" && Object.isFrozen(entry.params_schema.properties)).toBe(true);
    expect(Object.isFrozen(catalog.findCapability("ecg"))).toBe(true);
  });
});

describe("broken data", () => {
  const dirs: string[] = [];
  afterEach(() => {
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
  });

  function loadWith(file: string, from: string, to: string): () => unknown {
    const dir = mkdtempSync(join(tmpdir(), "catalog-"));
    dirs.push(dir);
    cpSync(join(import.meta.dirname, "data"), dir, { recursive: true });
    const text = readFileSync(join(dir, file), "utf8");
    expect(text).toContain(from);
    writeFileSync(join(dir, file), text.replace(from, to));
    return () => loadCatalog(dir);
  }

  it.each([
    ["h02.json", '"slug": "h02"', '"slug": ', /h02\.json: Unexpected token/],
    ["h02.json", '"h02-generic"', '"h02-other"', 'h02.json /models: model "h02-generic" is missing'],
    ["h02.json", '"slug": "h02"', '"slug": "gt06"', 'h02.json /protocol/slug: the file of "gt06" must be gt06.json'],
    ["h02.json", '"slug": "h02"', '"slug": "h03"', "h02.json /protocol/slug: must be equal to one of"],
    ["h02.json", '"default_port": 7700', '"default_port": "7700"', "h02.json /protocol/default_port: must be integer"],
    ["h02.json", '"features"', '"featurs"', "h02.json /models/0: "],
    ["h02.json", '"restart"', '"reboot"', 'h02.json /models/0/commands/1: "reboot" is not a known command'],
    ["h02.json", '"restart"', '"hr"', '"hr" is not a known command'],
    ["h02.json", '"restart"', '"locate_now"', "h02.json /models/0/commands: must NOT have duplicate items"],
    ["h02.json", '"bat"', '"mood"', 'h02.json /models/0/telemetry/0: "mood" is not a known telemetry'],
    ["iw.json", '"iw-kids"', '"gt06-generic"', 'iw.json /models/3/slug: "gt06-generic" is already a model of gt06'],
    ["iw.json", '"dialect": "A"', '"dialect": "D"', "iw.json /models/0/traits/dialect: must match a schema in anyOf"],
    ["iw.json", '"has_ecg": true', '"has_ecg": false', "iw.json /models/0/has_ecg: must be true"],
    ["gl200.json", '"command_password"', '"pin"', "gl200.json /models/0/traits: "],
    [
      "teltonika.json",
      '"requires_ack": false',
      '"max_length": 5',
      '/differences/restart: a command has no "max_length"',
    ],
    ["teltonika.json", '"restart": {', '"reboot": {', "/differences/reboot: the model does not list this code"],
    [
      "watch.json",
      '"minimum": 5',
      '"minimum": "5"',
      "watch.json /models/0/differences/set_heart_rate_interval/params_",
    ],
    ["watch.json", '"minimum": 5', '"minmum": 5', /watch\.json .*params_schema: .*unknown keyword: "minmum"/],
    ["capabilities.json", '"maximum": 250', '"maximum": "x"', "capabilities.json /commands/12/params_schema: "],
    ["capabilities.json", '"code": "restart"', '"code": "reboot"', "capabilities.json /commands/5/code: must be equal"],
    ["capabilities.json", '"code": "find_device"', '"code": "restart"', '/commands/5: code "restart" is already used'],
    ["capabilities.json", '"power_off_notice"', '"power_off"', 'code "power_off" is already used at /commands/6'],
    ["capabilities.json", '"metric_key": "hr"', '"metric_key": "mood"', "capabilities.json /telemetry/1/metric_key: "],
    ["capabilities.json", '"metric_key": "hr"', '"metric_key": "bat"', "/telemetry/1: code and metric_key must be"],
  ])("in %s (%s → %s) is named with its place", (file, from, to, message) => {
    expect(loadWith(file, from, to)).toThrow(message);
  });

  it("a folder that is not there is an error", () => {
    expect(() => loadCatalog("/nowhere")).toThrow("ENOENT");
  });
});

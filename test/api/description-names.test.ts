import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../support/api.ts";

interface Schema {
  type?: string;
  format?: string;
  enum?: (string | number | null)[];
  pattern?: string;
  nullable?: boolean;
  properties?: Record<string, Schema>;
  items?: Schema;
  oneOf?: Schema[];
  discriminator?: { mapping: Record<string, string> };
  "x-enum-varnames"?: string[];
}
interface Parameter {
  name: string;
  in: string;
  schema: Schema;
  style?: string;
  explode?: boolean;
}

describe("what generated code is called", () => {
  let api: TestApi;
  let schemas: Record<string, Schema>;
  let parameters: { operation: string; parameter: Parameter }[];

  beforeAll(async () => {
    api = await openTestApi();
    const { body } = await api.call("GET", "/api/schema/?format=json");
    schemas = body.components.schemas;
    const operations = Object.values(body.paths as Record<string, Record<string, never>>).flatMap((item) =>
      Object.values<{ operationId: string; parameters?: Parameter[] }>(item),
    );
    parameters = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters.map((parameter) => ({ operation: operationId, parameter })),
    );
  });
  afterAll(() => api.close());

  it("gives each constant of an enumeration a name of its own among all of them, as Go needs it", () => {
    const constants = Object.values(schemas).flatMap((schema) => {
      if (!schema.enum) return [];
      expect(schema["x-enum-varnames"]).toHaveLength(schema.enum.length);
      return schema["x-enum-varnames"] ?? [];
    });
    expect(constants.length).toBeGreaterThan(100);
    expect(constants.filter((name) => !/^[A-Z][A-Z0-9_]+$/.test(name))).toEqual([]);
    expect(constants.filter((name, index) => constants.indexOf(name) !== index)).toEqual([]);
    expect(schemas.InvitationStatusEnum?.["x-enum-varnames"]).toContain("INVITATION_STATUS_PENDING");
  });

  it("names every object in a list and every choice between objects", () => {
    const unnamed = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties).flatMap(([field, { items, oneOf }]) =>
        oneOf || items?.oneOf || items?.properties ? [`${name}.${field}`] : [],
      ),
    );
    expect(unnamed).toEqual([]);
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(["DeviceSegment", "EcgLead", "ReplayErrorDetail"]));
    for (const schema of Object.values(schemas)) if (schema.oneOf) expect(schema.discriminator).toBeDefined();
  });

  it("tells the events of the log apart by a pattern too: Go checks no enumeration", () => {
    for (const [type, reference] of Object.entries(schemas.OutboundEvent?.discriminator?.mapping ?? {})) {
      const field = schemas[reference.split("/").at(-1) ?? ""]?.properties?.type;
      const matching = Object.keys(schemas.OutboundEvent?.discriminator?.mapping ?? {}).filter((one) =>
        new RegExp(field?.pattern ?? "").test(one),
      );
      expect(matching).toEqual([type]);
    }
  });

  it("makes numbers 64 bits wide, so that a coordinate keeps its place", () => {
    expect(schemas.Location?.properties?.lat).toMatchObject({ type: "number", format: "double" });
    expect(JSON.stringify(schemas)).not.toMatch(/"type":"number"(?!,"format":"double")/);
  });

  it("gives each parameter one type, lists with commas and the values that a list accepts", () => {
    for (const { operation, parameter } of parameters) {
      expect([operation, parameter.name, parameter.schema.type]).toEqual([
        operation,
        parameter.name,
        expect.any(String),
      ]);
      const isList = parameter.schema.type === "array";
      expect([parameter.style, parameter.explode]).toEqual(isList ? ["form", false] : [undefined, undefined]);
    }
    const find = (id: string, name: string) =>
      parameters.find(({ operation, parameter }) => operation === id && parameter.name === name)?.parameter.schema;
    expect(find("devices_list", "page")).toEqual({ type: "integer", minimum: 1 });
    expect(find("geofences_list", "ordering")?.items?.enum).toEqual(expect.arrayContaining(["name", "-name"]));
    expect(find("events_list", "ordering")?.enum).toEqual(["ts", "-ts"]);
    expect(find("events_list", "severity")?.items?.enum).toEqual(["info", "warning", "critical"]);
  });
});

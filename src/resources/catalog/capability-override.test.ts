import { expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { resolveCapabilities } from "./capability-override.ts";

const catalog = testCatalog();
const resolve = (slug: string, ...overrides: Parameters<typeof resolveCapabilities>[1]) =>
  resolveCapabilities(catalog.capabilitiesOf(slug), overrides, catalog.findCapability);

it("without overrides the device has what its model has", () => {
  expect(resolve("iw-h10")).toEqual(catalog.capabilitiesOf("iw-h10"));
});

it("an override changes one code and marks it", () => {
  const resolved = resolve("iw-h10", { code: "restart", supported: false, params_schema: null });
  const model = catalog.capabilitiesOf("iw-h10");
  expect(resolved).toEqual(
    model.map((entry) =>
      entry.code === "restart" ? { ...entry, supported: false, source: "device", overridden: true } : entry,
    ),
  );
});

it("an override switches on a command that the model does not support", () => {
  const resolved = resolve("osmand-generic", { code: "locate_now", supported: true, params_schema: null });
  expect(resolved.find(({ code }) => code === "locate_now")).toMatchObject({ supported: true, overridden: true });
  expect(resolved).toHaveLength(catalog.capabilitiesOf("osmand-generic").length);
});

it("an override replaces the parameter schema of a command", () => {
  const params_schema = { type: "object", properties: { interval_seconds: { type: "integer", minimum: 600 } } };
  const [entry] = resolve("h02-generic", { code: "set_report_interval", supported: true, params_schema }).filter(
    ({ code }) => code === "set_report_interval",
  );
  expect(entry).toMatchObject({ params_schema, source: "device", overridden: true, requires_ack: true });
});

it("an override ignores a parameter schema where there are no parameters", () => {
  const resolved = resolve("h02-generic", { code: "bat", supported: true, params_schema: { type: "object" } });
  expect(resolved.find(({ code }) => code === "bat")).not.toHaveProperty("params_schema");
});

it("an override adds a code that the model does not list from the shared definitions", () => {
  const resolved = resolve("h02-generic", { code: "hr", supported: true, params_schema: null });
  expect(resolved.at(-1)).toMatchObject({ code: "hr", unit: "bpm", supported: true, source: "device" });
});

it("an override leaves out a code that the catalog does not know", () => {
  expect(resolve("h02-generic", { code: "fly", supported: true, params_schema: null })).toEqual(
    catalog.capabilitiesOf("h02-generic"),
  );
});

it("an override leaves the catalog as it was", () => {
  resolve("iw-h10", { code: "restart", supported: false, params_schema: null });
  expect(catalog.capabilitiesOf("iw-h10").find(({ code }) => code === "restart")).toMatchObject({ supported: true });
});

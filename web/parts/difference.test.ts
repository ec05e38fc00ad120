import { expect, test } from "vitest";
import { differencesOf } from "./difference.ts";

test("a value shows what it was and what it is, and nothing where there was none", () => {
  expect(differencesOf("radius", 100, 150)).toEqual([{ field: "radius", removed: [100], added: [150] }]);
  expect(differencesOf("name", null, "Home")).toEqual([{ field: "name", removed: [], added: ["Home"] }]);
  expect(differencesOf("notes", "x", "")).toEqual([{ field: "notes", removed: ["x"], added: [] }]);
  expect(differencesOf("is_active", true, false)).toEqual([{ field: "is_active", removed: [true], added: [false] }]);
});

test("a list shows what came and went", () => {
  expect(differencesOf("devices", ["a", "b"], ["b", "c"])).toEqual([
    { field: "devices", removed: ["a"], added: ["c"] },
  ]);
  expect(differencesOf("order", ["a", "b"], ["b", "a"])).toEqual([
    { field: "order", removed: [["a", "b"]], added: [["b", "a"]] },
  ]);
});

test("a record shows only the parts that differ", () => {
  const before = { lat: 1, lng: 2, at: { zone: "UTC" } };
  expect(differencesOf("center", before, { lat: 1, lng: 3, at: { zone: "Europe/Rome" } })).toEqual([
    { field: "center.lng", removed: [2], added: [3] },
    { field: "center.at.zone", removed: ["UTC"], added: ["Europe/Rome"] },
  ]);
  expect(differencesOf("center", null, { lat: 1 })).toEqual([{ field: "center.lat", removed: [], added: [1] }]);
});

import { expect, it } from "vitest";
import { importTemplate, previewFile } from "./import-file.ts";

it("shows the first lines of a file, and the cell that a message is about", () => {
  const lines = Array.from({ length: 20 }, (_, n) => `${n},"Watch, ${n}"`);
  const preview = previewFile(["uid, name", ...lines].join("\n"));
  expect([preview.columns, preview.lineCount, preview.rows.length]).toEqual([["uid", "name"], 20, 5]);
  expect(preview.rows[0]).toEqual({ line: 2, cells: ["0", "Watch, 0"] });
  expect(preview.cellAt(21, "name")).toBe("Watch, 19");
  expect([preview.cellAt(99, "name"), preview.cellAt(2, "tags.0")]).toEqual([undefined, undefined]);
});

it("has a template that has a line for each way to fill it", () => {
  const { columns, rows } = previewFile(importTemplate);
  expect(columns).toEqual(["uid", "device_model_slug", "name", "timezone", "tags", "terminal_id"]);
  expect(rows.every(({ cells }) => cells.length === columns.length && /^\d{15}$/.test(cells[0] ?? ""))).toBe(true);
});

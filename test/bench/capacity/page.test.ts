import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { capacityPage } from "./page.ts";

it("the page about capacity is what the figures make of it", () => {
  const template = readFileSync(join(import.meta.dirname, "capacity-template.md"), "utf8");
  const page = readFileSync(join(import.meta.dirname, "../../../docs/operators/capacity.md"), "utf8");
  expect(page).toBe(capacityPage(template));
});

/**
 * Writes docs/partners/event-types.md: every type of event with its scopes and an example.
 *   npx tsx scripts/event-types-reference.mjs [--check]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { eventTypesPage } from "./event-types-page.mjs";

const file = resolve(import.meta.dirname, "../docs/partners/event-types.md");
const { describeWebhooks } = await import("../src/outbound/webhook-description.ts");
const text = eventTypesPage(describeWebhooks());
if (!process.argv.includes("--check")) writeFileSync(file, text);
else if (readFileSync(file, "utf8") !== text) {
  console.error("docs/partners/event-types.md differs: run npx tsx scripts/event-types-reference.mjs");
  process.exitCode = 1;
}

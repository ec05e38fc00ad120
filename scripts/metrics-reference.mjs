/**
 * Writes docs/operators/metrics.md from the calls that make metrics: `node scripts/metrics-reference.mjs`. With `--print` it
 * goes to stdout, which is how a test holds the page to the code.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const page = join(root, "docs/operators/metrics.md");

/** Every metric of the code with its type, help text and room. */
function collectMetrics() {
  const metrics = new Map();
  const files = readdirSync(join(root, "src"), { recursive: true }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  for (const file of files.toSorted()) {
    const source = readFileSync(join(root, "src", file), "utf8");
    const calls = source.matchAll(/\.(counter|gauge|histogram)\(\s*"([a-z_]+)",\s*"((?:[^"\\]|\\.)*)"/g);
    for (const [, type, name, help] of calls) {
      metrics.set(name, {
        name,
        type,
        help: JSON.parse(`"${help}"`),
        room: file.includes("/") ? dirname(file) : "app",
      });
    }
  }
  return [...metrics.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const rows = collectMetrics().map(
  ({ name, type, help, room }) => `| \`${name}\` | ${type} | ${help.replaceAll("|", "\\|")} | ${room} |`,
);
const text = `# Reference of /metrics

Generated from the code by \`node scripts/metrics-reference.mjs\`; do not edit. Labels, units and what to watch are in
[monitoring](monitoring.md). A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`.

| Name | Type | Help text | Made in |
|---|---|---|---|
${rows.join("\n")}
`;

if (process.argv.includes("--print")) process.stdout.write(text);
else writeFileSync(page, text);

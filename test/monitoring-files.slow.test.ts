import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = resolve(import.meta.dirname, "..");
const text = (path: string): string => readFileSync(join(root, path), "utf8");

/** The generated page has one row per metric of the code, which the first test makes sure of. */
const types = new Map(
  [...text("docs/operators/metrics.md").matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, type]) => [name, type]),
);

/** Metrics of an expression that the code does not make. */
function unknownMetrics(expression: string): string[] {
  const named = expression.match(/\b(?:vigil|process)_[a-z_]+/g) ?? [];
  return named.filter((name) => {
    const base = name.replace(/_(bucket|sum|count)$/, "");
    return !(types.has(name) && types.get(name) !== "histogram") && types.get(base) !== "histogram";
  });
}

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string };
}
const rulesFile = "deploy/prometheus/vigil-alerts.yaml";
const rules = (parse(text(rulesFile)) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

interface Dashboard {
  uid: string;
  panels: { title: string; targets: { expr: string }[] }[];
}
const dashboards = readdirSync(join(root, "deploy/grafana")).map((file) => ({
  file,
  dashboard: JSON.parse(text(`deploy/grafana/${file}`)) as Dashboard,
}));

describe("the reference of /metrics", () => {
  it("is what the code makes", () => {
    const printed = execFileSync(process.execPath, [join(root, "scripts/metrics-reference.mjs"), "--print"]).toString();
    expect(text("docs/operators/metrics.md")).toBe(printed);
  });

  it("has the metrics of the monitoring page, and no other", () => {
    const listed = text("docs/operators/monitoring.md").matchAll(/^\| `((?:vigil|process)_[a-z_]+)` \| (\w+) \|/gm);
    expect([...types].toSorted()).toEqual([...listed].map(([, name, type]) => [name, type]).toSorted());
  });
});

describe("alert rules", () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))("%s names metrics that exist", (_, { expr }) => {
    expect(unknownMetrics(expr)).toEqual([]);
  });

  it("have a runbook paragraph each, and no paragraph is left over", () => {
    const paragraphs = [...text("docs/operators/monitoring.md").matchAll(/^### (Vigil\w+)\n\n\S/gm)];
    expect(rules.map((rule) => rule.alert)).toEqual(paragraphs.map(([, name]) => name));
    for (const { labels, annotations } of rules) {
      expect(["critical", "warning"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
    }
  });

  it.skipIf(spawnSync("promtool", ["--version"]).status !== 0)("are accepted by promtool", () => {
    const { status, stderr } = spawnSync("promtool", ["check", "rules", join(root, rulesFile)]);
    expect(stderr.toString()).toBe("");
    expect(status).toBe(0);
  });
});

describe("dashboards", () => {
  it("are those of the fleet, ingest, outbound, API and database", () => {
    const uids = dashboards.map(({ dashboard }) => dashboard.uid);
    expect(uids).toEqual(["vigil-api", "vigil-database", "vigil-fleet", "vigil-ingest", "vigil-outbound"]);
  });

  it.each(dashboards.map((one) => [one.file, one.dashboard] as const))("%s asks for metrics that exist", (_, board) => {
    for (const { title, targets } of board.panels) {
      expect(targets.length, title).toBeGreaterThan(0);
      for (const { expr } of targets) expect(unknownMetrics(expr), `${title}: ${expr}`).toEqual([]);
    }
  });
});

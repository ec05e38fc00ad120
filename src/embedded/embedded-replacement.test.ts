import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Layout } from "./embedded-layout.ts";
import { finishReplacement, replaceCluster } from "./embedded-replacement.ts";

let root: string;
const at = (name: string): string => join(root, name);
const layout = (): Layout => ({
  dataDir: root,
  root,
  cluster: at("cluster"),
  run: at("run"),
  log: at("log"),
  account: undefined,
  handsOver: false,
});
const makeCluster = (name: string, content: string): void => {
  mkdirSync(at(name));
  writeFileSync(join(at(name), "PG_VERSION"), content);
};
const contentOf = (name: string): string => readFileSync(join(at(name), "PG_VERSION"), "utf8");
const replacement = () => ({ from: at("new"), to: at("cluster"), previous: at("old") });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "vigil-replacement-"));
  makeCluster("new", "new");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("puts a cluster into an empty place", async () => {
  await replaceCluster(layout(), replacement());
  expect(contentOf("cluster")).toBe("new");
  expect(existsSync(at("replacement.json"))).toBe(false);
});

it("moves the cluster that is there aside", async () => {
  makeCluster("cluster", "before");
  await replaceCluster(layout(), replacement());
  expect([contentOf("cluster"), contentOf("old")]).toEqual(["new", "before"]);
});

it("is finished by the next start from every step at which it may have been killed", async () => {
  const journal = (): void => writeFileSync(at("replacement.json"), JSON.stringify(replacement()));
  makeCluster("cluster", "before");
  journal();
  await finishReplacement(layout());
  expect([contentOf("cluster"), contentOf("old")]).toEqual(["new", "before"]);

  rmSync(at("cluster"), { recursive: true });
  makeCluster("new", "second");
  journal();
  await finishReplacement(layout());
  expect([contentOf("cluster"), contentOf("old")]).toEqual(["second", "before"]);

  journal();
  await finishReplacement(layout());
  expect([contentOf("cluster"), existsSync(at("replacement.json"))]).toEqual(["second", false]);
});

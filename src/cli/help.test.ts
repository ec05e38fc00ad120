import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { loadAllCommands, loadCommandsFor } from "./commands.ts";
import { helpText, usageFor } from "./help.ts";

const commands = await loadAllCommands();

test("the help finds each command among those of its first word", async () => {
  for (const { path } of commands) {
    const found = await loadCommandsFor(path);
    expect(found.some((one) => one.path.join(" ") === path.join(" "))).toBe(true);
    expect(found.every((one) => one.path[0] === path[0])).toBe(true);
  }
});

test("the help lists every command", () => {
  const text = helpText([], commands);
  for (const command of commands) expect(text).toContain(`vigil ${command.path.join(" ")} `);
});

test.each(commands.map((command) => [command.path.join(" "), command] as const))(
  "the help documents %s with usage, options, examples and next steps",
  (_, command) => {
    const text = helpText(command.path, commands);
    for (const { name, default: fallback } of command.options) {
      expect(text).toContain(`--${name}`);
      if (fallback !== undefined) expect(text).toContain(`default: ${fallback}`);
    }
    for (const name of ["--data-dir", "--json", "--help"]) expect(text).toContain(name);
    expect(command.examples.length).toBeGreaterThanOrEqual(2);
    expect(command.next.length).toBeGreaterThanOrEqual(1);
    expect(text).toContain(`vigil ${command.path.join(" ")}`);
  },
);

test("the page of the command line names every command and every option", () => {
  const page = readFileSync(resolve(import.meta.dirname, "../../docs/operators/command-line.md"), "utf8");
  // A heading may name several commands of one group: "device list, show".
  const headings = page.split("\n").flatMap((line) => (line.startsWith("## ") ? line.slice(3).split(/,? /) : []));
  for (const { path, options } of commands) {
    for (const word of path) expect(headings).toContain(word);
    const missing = options.filter(({ name }) => !page.includes(`--${name}`)).map(({ name }) => name);
    expect([path.join(" "), missing]).toEqual([path.join(" "), []]);
  }
});

test("the help lists the commands of a group only", () => {
  const text = helpText(["org"], commands);
  expect(text).toContain("vigil org create");
  expect(text).not.toContain("vigil integration");
});

test("the help marks what is required and what may be repeated", () => {
  expect(usageFor(["org", "create"], commands)).toMatch(
    /^usage: vigil org create --name N \[--slug S\].* \[--feature F\]\.\.\. /,
  );
  expect(usageFor(["integration", "enable"], commands)).toBe("usage: vigil integration enable ID [--json]");
});

test("the help has no two commands of one name, and no option named twice", () => {
  expect(new Set(commands.map(({ path }) => path.join(" "))).size).toBe(commands.length);
  for (const { options } of commands) {
    expect(new Set(options.map(({ name }) => name)).size).toBe(options.length);
  }
});

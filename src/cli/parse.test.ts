import { expect, test } from "vitest";
import { type Command, UsageError } from "./command.ts";
import { parseCommandLine } from "./parse.ts";

const command = (path: string[], rest: Partial<Command> = {}): Command => ({
  path,
  summary: path.join(" "),
  positionals: [],
  options: [],
  examples: [],
  next: [],
  run: async () => 0,
  ...rest,
});

const commands = [
  command(["start"], { options: [{ name: "port", value: "N", summary: "port" }] }),
  command(["org", "create"], {
    options: [
      { name: "name", value: "N", required: true, summary: "the name" },
      { name: "feature", value: "F", repeatable: true, summary: "a feature" },
      { name: "quiet", summary: "a switch" },
    ],
  }),
  command(["org", "set"], { positionals: [{ name: "SLUG", summary: "the slug" }] }),
  command(["bench"], { rest: { name: "NAME", summary: "what to measure" }, options: [{ name: "huge", summary: "" }] }),
];

function parse(...argv: string[]) {
  const request = parseCommandLine(argv, commands);
  if (request.kind !== "run") throw new Error(`expected a command, got ${request.kind}`);
  return { path: request.command.path, args: request.args };
}

test.each([
  [["frob", "--help"], /unknown command "frob"/],
  [["org", "frob", "--help"], /unknown command "org frob"/],
  [["help", "frob"], /unknown command "frob"/],
  [["--data-dir", "DIR", "frob"], /unknown command "frob"/],
  [["--data-dir", "DIR"], /a command is missing/],
])("the command line has no help for what is no command: %j", (argv, message) => {
  expect(() => parseCommandLine(argv, commands)).toThrow(message);
});

test("the command line takes any number of words where the command does", () => {
  expect(parse("bench").args.positionals).toEqual([]);
  expect(parse("bench", "http", "--huge", "lists").args.positionals).toEqual(["http", "lists"]);
});

test("the command line reads values in both spellings, switches and repeated options", () => {
  const { path, args } = parse("org", "create", "--name=Care Co", "--feature", "a", "--quiet", "--feature=b");
  expect(path).toEqual(["org", "create"]);
  expect(args.value("name")).toBe("Care Co");
  expect(args.values("feature")).toEqual(["a", "b"]);
  expect([args.has("quiet"), args.has("json")]).toEqual([true, false]);
});

test("the command line tells an empty value from an absent one", () => {
  expect(parse("start", "--port", "").args.value("port")).toBe("");
  expect(parse("start", "--port=").args.value("port")).toBe("");
  expect(parse("start").args.value("port")).toBeUndefined();
});

test("the command line keeps equal signs, line ends and single dashes inside values", () => {
  expect(parse("org", "create", "--name=a=b\nc").args.value("name")).toBe("a=b\nc");
  expect(parse("org", "create", "--name", "-5").args.value("name")).toBe("-5");
  expect(parse("org", "set", "-").args.positionals).toEqual(["-"]);
});

test("the command line takes common options before, between and after the words of a command", () => {
  for (const argv of [
    ["--json", "--data-dir", "/d", "org", "set", "x"],
    ["org", "--json", "--data-dir=/d", "set", "x"],
    ["org", "set", "x", "--data-dir", "/d", "--json"],
  ]) {
    const { path, args } = parse(...argv);
    expect([path, args.positionals, args.value("data-dir"), args.has("json")]).toEqual([
      ["org", "set"],
      ["x"],
      "/d",
      true,
    ]);
  }
});

test("the command line takes everything after -- as arguments", () => {
  expect(parse("org", "set", "--", "--help").args.positionals).toEqual(["--help"]);
});

test("the command line finds requests for help and for the version", () => {
  expect(parseCommandLine(["--help"], commands)).toEqual({ kind: "help", path: [] });
  expect(parseCommandLine(["org", "-h"], commands)).toEqual({ kind: "help", path: ["org"] });
  expect(parseCommandLine(["help", "org", "create"], commands)).toEqual({ kind: "help", path: ["org", "create"] });
  expect(parseCommandLine(["org", "create", "--help"], commands)).toEqual({ kind: "help", path: ["org", "create"] });
  expect(parseCommandLine(["--version", "--json"], commands)).toEqual({ kind: "version", json: true });
});

test.each([
  [["orgs", "list"], 'unknown command "orgs" (did you mean org?)'],
  [["org", "crate"], 'unknown command "org crate" (did you mean create?)'],
  [["frobnicate"], 'unknown command "frobnicate"'],
  [["org"], '"org" needs a subcommand: create, set'],
  [["--json"], "a command is missing: start, org"],
  [["--verison"], "unknown option --verison (did you mean --version?)"],
  [["org", "create", "--nmae", "x"], "unknown option --nmae (did you mean --name?)"],
  [["org", "create", "-n", "x"], "unknown option -n"],
  [["org", "create"], "--name is missing (the name)"],
  [["org", "create", "--name"], "--name needs a value: --name N"],
  [["org", "create", "--name", "--json"], "--name needs a value: --name N"],
  [["org", "create", "--name", "a", "--name", "b"], "--name is given twice"],
  [["org", "create", "--name", "a", "--quiet=yes"], "--quiet takes no value"],
  [["org", "create", "--name", "a", "b"], 'unexpected argument "b"'],
  [["org", "set"], "SLUG is missing (the slug)"],
])("the command line refuses %j", (argv, message) => {
  expect(() => parse(...argv)).toThrow(UsageError);
  expect(() => parse(...argv)).toThrow(message);
});

test("the command line treats asking for an undescribed option as a bug", () => {
  expect(() => parse("start").args.value("prot")).toThrow("does not describe");
});

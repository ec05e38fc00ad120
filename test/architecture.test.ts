import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../src");
const root = resolve(src, "..");

/** Which rooms a room may import from; the table of docs/architecture.md. */
const allowed: Record<string, readonly string[]> = {
  lib: [],
  tracing: ["lib"],
  db: ["lib", "tracing"],
  codecs: ["lib"],
  audio: ["lib"],
  embedded: ["lib"],
  backup: ["lib"],
  mail: ["lib", "db"],
  oauth: ["lib", "db"],
  outbox: ["lib", "db", "oauth"],
  http: ["lib", "tracing", "db", "oauth"],
  resources: ["lib", "db", "codecs", "oauth", "http", "mail", "outbox"],
  places: ["lib", "db", "resources", "outbox"],
  rules: ["lib"],
  outbound: ["lib", "tracing", "db", "oauth", "http", "outbox", "resources"],
  ingest: ["lib", "tracing", "db", "codecs", "resources", "rules", "outbox", "places"],
  gateway: ["lib", "db", "codecs", "resources", "ingest", "outbox"],
  console: ["lib", "db", "http", "oauth", "resources", "mail", "outbox", "outbound"],
  privacy: ["lib", "db", "oauth", "resources"],
  simulator: ["lib", "codecs"],
};

/** The binary, the command line and the roles put everything together and may see all of it. */
const isRoot = (room: string): boolean => room === "cli" || room === "roles" || room.endsWith(".ts");

interface Import {
  file: string;
  from: string;
  to: string;
}

function typescriptFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return typescriptFiles(path);
    return entry.name.endsWith(".ts") ? [path] : [];
  });
}

const files = typescriptFiles(src).filter((file) => !file.endsWith(".test.ts"));
const imports: Import[] = files.flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => ({
    file: relative(src, file),
    from: relative(src, file),
    to: relative(src, resolve(dirname(file), match[1] as string)),
  })),
);
const roomOf = (path: string): string => path.split("/")[0] as string;
const nounOf = (path: string): string => path.split("/")[1] as string;
const betweenNouns = imports.filter(
  ({ from, to }) => roomOf(from) === "resources" && roomOf(to) === "resources" && nounOf(from) !== nounOf(to),
);

describe("the house", () => {
  it("has only rooms that the table names", () => {
    const rooms = new Set(files.map((file) => roomOf(relative(src, file))));
    expect([...rooms].filter((room) => !isRoot(room) && !(room in allowed))).toEqual([]);
  });

  it("imports in the directions of the table", () => {
    expect(imports.length).toBeGreaterThan(100);
    const wrong = imports.filter(({ from, to }) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      return !isRoot(room) && room !== target && !allowed[room]?.includes(target);
    });
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it("permits no direction that nobody uses", () => {
    const used = new Set(imports.map(({ from, to }) => `${roomOf(from)} imports ${roomOf(to)}`));
    const permitted = Object.entries(allowed).flatMap(([room, rooms]) => rooms.map((one) => `${room} imports ${one}`));
    expect(permitted.filter((direction) => !used.has(direction))).toEqual([]);
  });

  it("lets a resource use the stores and pure files of another, never its routes", () => {
    const wrong = betweenNouns.filter(({ to }) => /-routes\.ts$/.test(to));
    expect(wrong.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it("has no nouns that import each other, not even through others", () => {
    const directions = new Map<string, Set<string>>();
    for (const { from, to } of betweenNouns) {
      directions.set(nounOf(from), (directions.get(nounOf(from)) ?? new Set()).add(nounOf(to)));
    }
    const reachedFrom = (noun: string): Set<string> => {
      const reached = new Set<string>();
      const open = [noun];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        for (const other of directions.get(next) ?? []) {
          if (!reached.has(other)) open.push(other);
          reached.add(other);
        }
      }
      return reached;
    };
    expect(directions.size).toBeGreaterThan(10);
    expect([...directions.keys()].filter((noun) => reachedFrom(noun).has(noun))).toEqual([]);
  });

  it("names the file it means, with its ending", () => {
    expect(imports.filter(({ to }) => !/\.(ts|json)$/.test(to))).toEqual([]);
    expect(files.filter((file) => /\/(index|utils|helpers|common|types)\.ts$/.test(file))).toEqual([]);
  });

  it("names a protocol only in its codec, its virtual device and the lists of both", () => {
    const slugs = readdirSync(join(src, "resources/catalog/data"))
      .filter((name) => name !== "capabilities.json")
      .map((name) => name.replace(".json", ""));
    expect(slugs.length).toBeGreaterThan(8);
    const places = [
      /^codecs\/protocols\.ts$/,
      new RegExp(`^codecs/(${slugs.join("|")})/`),
      /^simulator\/virtual-protocols\.ts$/,
      new RegExp(`^simulator/(${slugs.join("|")})-device\\.ts$`),
      // A watch is also a kind of device, whatever it speaks.
      /^resources\/catalog\/device-types\.ts$/,
    ];
    const others = files.filter((file) => !places.some((place) => place.test(relative(src, file))));
    // As a value, alone or before a hyphen or a colon; what is no English word nowhere at all, not even in a comment.
    const value = new RegExp(`["'\`](${slugs.join("|")})["'\`:-]`);
    const word = new RegExp(`\\b(${slugs.filter((slug) => slug !== "watch").join("|")})\\b`, "i");
    const key = new RegExp(`^\\s*(${slugs.join("|")}):`, "m");
    const named = others.filter((file) => [value, word, key].some((one) => one.test(readFileSync(file, "utf8"))));
    expect(named.map((file) => relative(src, file))).toEqual([]);
    const inside = imports.filter(({ from, to }) => {
      const folder = new RegExp(`^codecs/(${slugs.join("|")})/`).exec(to)?.[0];
      return folder !== undefined && !from.startsWith(folder) && from !== "codecs/protocols.ts";
    });
    expect(inside.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  it("reads the environment in one file only", () => {
    // PATH is no setting: it is handed on to child processes as it is.
    const readers = files.filter((file) => /process\.env(?!\.PATH\b)/.test(readFileSync(file, "utf8")));
    expect(readers.map((file) => relative(src, file))).toEqual(["config.ts"]);
  });

  it("keeps files short enough to read, those of tests too", () => {
    const long = [...typescriptFiles(src), ...typescriptFiles(join(root, "test"))].filter(
      (file) => readFileSync(file, "utf8").split("\n").length > 400,
    );
    expect(long.map((file) => relative(root, file))).toEqual([]);
  });

  it("is described as it is", () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const [, table = ""] = page.split("| Room | May import | Holds |");
    const rows = [...(table.split("\n\n")[0] as string).matchAll(/^\| (\w+) \| ([^|]+) \|/gm)];
    const described = rows.map(([, room, rooms = ""]) => [room, rooms === "nothing of ours" ? [] : rooms.split(", ")]);
    expect(described).toEqual(Object.entries(allowed));
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");
const src = join(root, "src");
const page = readFileSync(join(root, "docs/developers/words.md"), "utf8");

/** The words in code quotes of the line of docs/developers/words.md that begins so. */
function wordsAfter(opening: string): string[] {
  const line = page.split("\n").find((one) => one.startsWith(opening)) ?? "";
  return [...line.matchAll(/`(\w+)`/g)].map((match) => match[1] as string);
}

const files = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file: relative(root, join(src, file)), text: readFileSync(join(src, file), "utf8") }));

function matches(pattern: RegExp): string[] {
  return files.flatMap(({ file, text }) => [...text.matchAll(pattern)].map((match) => `${file}: ${match[0]}`));
}

describe("names in src", () => {
  it("begin with none of the banned prefixes", () => {
    const prefixes = wordsAfter("Never begin a name with:");
    expect(prefixes).toContain("most");
    expect(matches(new RegExp(`\\b(?:${prefixes.join("|")})[A-Z]\\w*`, "g"))).toEqual([]);
  });

  it("are none of the banned words", () => {
    const words = wordsAfter("Never use as a name:");
    expect(words).toContain("told");
    const declared = "(?:\\b(?:const|let|function|readonly|async|get)\\s+|#)";
    expect(matches(new RegExp(`${declared}(?:${words.join("|")})(?=\\s*[=:(<;])`, "g"))).toEqual([]);
    // Parameters and members, each at the start of a line or after a bracket.
    expect(matches(new RegExp(`(?:^ +|[({] ?)(?:${words.join("|")})\\??: `, "gm"))).toEqual([]);
  });
});

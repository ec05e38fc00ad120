import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceStatement {
  /** Below src. */
  file: string;
  /** The text, with what is put into it as `$`. */
  text: string;
}

/** Template texts of a source file, outer and inner ones. What a comment quotes is not among them. */
export function templatesIn(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const found: string[] = [];
  /** Reads from after an opening backtick; the position after the closing one. */
  const read = (start: number): number => {
    let text = "";
    let at = start;
    while (at < code.length && code[at] !== "`") {
      if (code[at] === "\\") at += 2;
      else if (code.startsWith("${", at)) {
        text += "$";
        at = skip(at + 2);
      } else text += code[at++];
    }
    found.push(text);
    return at + 1;
  };
  /** Reads an expression to its closing brace. */
  const skip = (start: number): number => {
    let depth = 1;
    let at = start;
    while (at < code.length && depth > 0) {
      const sign = code[at++];
      if (sign === "`") at = read(at);
      else if (sign === "{") depth++;
      else if (sign === "}") depth--;
    }
    return at;
  };
  for (let at = code.indexOf("`"); at >= 0; at = code.indexOf("`", at)) at = read(at + 1);
  return found;
}

/** Texts in double quotes, for statements that nothing is put into. */
const stringsIn = (source: string): string[] =>
  [...source.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, text = ""]) => text);

/** Every statement of the program that reads or writes one of the tables. */
export function statementsOn(src: string, tables: readonly string[]): SourceStatement[] {
  const names = new RegExp(`\\b(from|into|update|join|using)\\s+(${tables.join("|")})\\b`, "i");
  return readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .toSorted()
    .flatMap((file) => {
      const source = readFileSync(join(src, file), "utf8");
      return [...templatesIn(source), ...stringsIn(source)]
        .filter((text) => names.test(text))
        .map((text) => ({ file, text: text.replace(/\s+/g, " ").trim() }));
    });
}

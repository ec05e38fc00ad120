import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Pauses of the event loop for garbage, in milliseconds. */
export interface GcPauses {
  minor: number[];
  major: number[];
}

/** What the garbage collector of a program does, from a small module that is loaded into it. */
export function openGcLog(folder: string): { flags: string[]; take(): GcPauses } {
  const file = join(folder, "gc.log");
  writeFileSync(file, "");
  const module = pathToFileURL(join(import.meta.dirname, "gc-log.mjs"));
  module.searchParams.set("file", file);
  let read = 0;
  return {
    flags: ["--import", module.href],
    /** Those since the last call. */
    take() {
      const text = readFileSync(file, "utf8");
      const lines = text.slice(read).trimEnd().split("\n");
      read = text.length;
      const of = (kind: string): number[] =>
        lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.split(" ")[1]));
      return { minor: of("minor"), major: of("major") };
    },
  };
}

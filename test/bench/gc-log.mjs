// Loaded into a program with `--import gc-log.mjs?file=…`: writes a line for each garbage collection, "minor|major ms".
import { appendFileSync } from "node:fs";
import { constants, PerformanceObserver } from "node:perf_hooks";

const file = new URL(import.meta.url).searchParams.get("file");

new PerformanceObserver((list) => {
  const lines = list.getEntries().map(({ detail, duration }) => {
    const kind = detail.kind === constants.NODE_PERFORMANCE_GC_MINOR ? "minor" : "major";
    return `${kind} ${duration.toFixed(3)}\n`;
  });
  appendFileSync(file, lines.join(""));
}).observe({ entryTypes: ["gc"] });

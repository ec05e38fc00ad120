import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { benchNames } from "./bench-command.ts";

test("vigil bench names the benches that there are", async () => {
  const text = await readFile(join(import.meta.dirname, "../../test/bench/bench.ts"), "utf8");
  const always = text.slice(0, text.indexOf("const onDemand"));
  expect([...always.matchAll(/^ {2}(\w+): bench\w+,$/gm)].map(([, name]) => name)).toEqual([...benchNames]);
});

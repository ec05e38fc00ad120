import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** The `NODE_OPTIONS` for a process in which an installed package cannot be found, as after `npm ci --omit=optional`. */
export async function hidePackage(folder: string, name: string): Promise<string> {
  const file = join(folder, "hide-package.cjs");
  await writeFile(
    file,
    `const Module = require("node:module");
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...more) {
  if (request === ${JSON.stringify(name)}) throw Object.assign(new Error("hidden"), { code: "MODULE_NOT_FOUND" });
  return resolve.call(this, request, ...more);
};
`,
  );
  return `--require ${file}`;
}

/**
 * Run by npm after an install in a checkout. npm links the binaries of dependencies but not those of the package itself; with
 * this link `npx vigil` runs the checkout instead of asking the registry for a package of that name.
 * An install must not fail for the lack of it.
 */
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const folder = join(root, "node_modules", ".bin");
const link = join(folder, "vigil");

try {
  if (existsSync(join(root, "node_modules"))) {
    mkdirSync(folder, { recursive: true });
    rmSync(link, { force: true });
    if (process.platform === "win32") {
      writeFileSync(`${link}.cmd`, '@node "%~dp0\\..\\..\\bin\\vigil" %*\r\n');
      writeFileSync(link, '#!/bin/sh\nexec node "$(dirname "$0")/../../bin/vigil" "$@"\n');
    } else {
      symlinkSync("../../bin/vigil", link);
      chmodSync(join(root, "bin", "vigil"), 0o755);
    }
  }
} catch (error) {
  process.stderr.write(`vigil: could not link ${link} (${error.message}); use bin/vigil instead of npx vigil\n`);
}

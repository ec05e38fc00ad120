/**
 * Compiles src into dist. The result is made beside dist and moved into place when it is complete, under a lock, so that any
 * number of `bin/vigil` may start at once on a fresh checkout. Used by `npm run build` and by bin/vigil itself.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

export const root = dirname(import.meta.dirname);
const dist = join(root, "dist");
const stamp = join(dist, ".stamp");
const lock = join(root, "dist.lock");
const compiler = join(root, "node_modules/typescript/bin/tsc");
const lockLimitMs = 5 * 60_000;

/** Folders count too: removing a file changes only its folder. */
function newestChangeMs(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const inside = readdirSync(path).filter((name) => !name.endsWith(".test.ts"));
  return Math.max(stat.mtimeMs, ...inside.map((name) => newestChangeMs(join(path, name))));
}

const sources = ["src", "web", "package.json", "tsconfig.json", "tsconfig.build.json"];

export const canBuild = () => existsSync(compiler) && existsSync(join(root, "src")) && existsSync(join(root, "web"));
export const hasBuild = () => existsSync(stamp);

export function isFresh() {
  try {
    const builtMs = statSync(stamp).mtimeMs;
    return sources.every((source) => newestChangeMs(join(root, source)) <= builtMs);
  } catch {
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** The holder is gone without having cleaned up. A holder that has not yet written its name is given time. */
function isAbandoned() {
  try {
    const ageMs = Date.now() - statSync(lock).mtimeMs;
    if (ageMs > lockLimitMs) return true;
    const owner = Number(readFileSync(join(lock, "pid"), "utf8"));
    return owner > 0 && !isAlive(owner);
  } catch {
    return false;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function takeLock() {
  for (;;) {
    try {
      mkdirSync(lock);
      writeFileSync(join(lock, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (isAbandoned()) {
      // Only one of several waiters can move it away; the others find it gone and try again.
      const moved = join(root, `dist.abandoned-${process.pid}`);
      try {
        renameSync(lock, moved);
      } catch {
        continue;
      }
      rmSync(moved, { recursive: true, force: true });
    } else await pause(50);
  }
}

function compile(outDir) {
  const result = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", outDir], {
    cwd: root,
    encoding: "utf8",
  });
  if (result.status !== 0) {
    throw new Error(`the TypeScript compiler failed:\n${result.stdout ?? ""}${result.stderr ?? ""}`.trimEnd());
  }
}

/** Files that the program reads at run time and that the compiler does not copy. */
function copyAssets(outDir) {
  const copy = (from, to) => {
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(from, to);
  };
  const catalog = "resources/catalog/data";
  if (existsSync(join(root, "src", catalog))) {
    for (const name of readdirSync(join(root, "src", catalog)).filter((file) => file.endsWith(".json"))) {
      copy(join(root, "src", catalog, name), join(outDir, catalog, name));
    }
  }
  const redoc = join(root, "node_modules/redoc/bundles/redoc.standalone.js");
  if (existsSync(redoc)) copy(redoc, join(outDir, "assets/redoc.standalone.js"));
}

/** The console. Without vite, as in an installation of the production packages alone, an earlier build is kept. */
function buildConsole(outDir) {
  const vite = join(root, "node_modules/vite/bin/vite.js");
  const target = join(outDir, "web");
  if (!existsSync(vite)) {
    if (existsSync(join(dist, "web"))) cpSync(join(dist, "web"), target, { recursive: true });
    return;
  }
  const options = [
    "build",
    "--config",
    "web/vite.config.ts",
    "--outDir",
    target,
    "--emptyOutDir",
    "--logLevel",
    "error",
  ];
  const result = spawnSync(process.execPath, [vite, ...options], { cwd: root, encoding: "utf8" });
  if (result.status !== 0)
    throw new Error(`the console could not be built:\n${result.stdout}${result.stderr}`.trimEnd());
  compressAssets(join(target, "assets"));
}

/** The service sends files as they are: a phone loads a quarter of the bytes, and nobody compresses them at every request. */
function compressAssets(folder) {
  for (const name of readdirSync(folder).filter((file) => /\.(m?js|css)$/.test(file))) {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** What a killed build has left behind. */
function sweepLeftovers() {
  for (const name of readdirSync(root)) {
    const pid = Number(/^dist\.(?:tmp|old|abandoned)-(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(join(root, name), { recursive: true, force: true });
  }
}

function buildUnderLock() {
  const startedAt = new Date();
  const outDir = join(root, `dist.tmp-${process.pid}`);
  const old = join(root, `dist.old-${process.pid}`);
  try {
    rmSync(outDir, { recursive: true, force: true });
    compile(outDir);
    copyAssets(outDir);
    buildConsole(outDir);
    writeFileSync(join(outDir, ".stamp"), `${startedAt.toISOString()}\n`);
    // The time of the start: a file saved while the compiler ran makes the build stale.
    utimesSync(join(outDir, ".stamp"), startedAt, startedAt);
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(outDir, dist);
    sweepLeftovers();
  } finally {
    rmSync(outDir, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

/** Builds unless somebody else has just done it. */
export async function build({ force = false, onStart = () => undefined } = {}) {
  await takeLock();
  try {
    if (!force && isFresh()) return;
    onStart();
    buildUnderLock();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await build({ force: true });
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

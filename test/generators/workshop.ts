import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { runProgram } from "../support/python.ts";

/** The descriptions that generators read. */
export interface Descriptions {
  /** OpenAPI 3.0, JSON. */
  classic: string;
  /** OpenAPI 3.1 with webhooks, JSON. */
  modern: string;
}

/** The folder of one generator, and the programs it runs there. */
export interface Workshop extends Descriptions {
  folder: string;
  /** What was fetched once for all generators. */
  tools: string;
  /** Rejects with what the program wrote when it fails. */
  run(program: string, args: readonly string[], env?: Record<string, string>): Promise<string>;
}

export const root = resolve(import.meta.dirname, "../..");
export const flows = join(import.meta.dirname, "flows");
export const tsx = join(root, "node_modules/.bin/tsx");

export async function openWorkshop(name: string, tools: string, descriptions: Descriptions): Promise<Workshop> {
  const folder = join(tools, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const run: Workshop["run"] = async (program, args, env = {}) => {
    const { code, stdout, stderr } = await runProgram(program, args, env, folder);
    if (code !== 0) throw new Error(`${program} ${args.join(" ")}\n${`${stdout}\n${stderr}`.trim().slice(-3000)}`);
    return stdout;
  };
  return { ...descriptions, folder, tools, run };
}

export async function isInstalled(program: string, versionFlag = "--version"): Promise<boolean> {
  return (await runProgram(program, [versionFlag])).code === 0;
}

const openApiGenerator = "7.25.0";

/** Runs openapi-generator, which is fetched as a Java archive the first time. */
export async function openApiGenerate(
  workshop: Workshop,
  language: string,
  output: string,
  options: readonly string[] = [],
): Promise<string> {
  const archive = join(workshop.tools, `openapi-generator-cli-${openApiGenerator}.jar`);
  if (!existsSync(archive)) {
    const artifact = `org.openapitools:openapi-generator-cli:${openApiGenerator}`;
    const copy = ["-q", "-B", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"];
    await workshop.run("mvn", [...copy, `-Dartifact=${artifact}`, `-DoutputDirectory=${workshop.tools}`]);
  }
  const without = "apiTests=false,modelTests=false,apiDocs=false,modelDocs=false";
  const args = ["-i", workshop.classic, "-g", language, "-o", output, "--global-property", without, ...options];
  await workshop.run("java", ["-jar", archive, "generate", ...args]);
  return `openapi-generator ${openApiGenerator}`;
}

/** Installs npm packages for one generator; returns their versions. */
export async function installPackages({ folder, run }: Workshop, packages: readonly string[]): Promise<string> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...packages]);
  const listed = JSON.parse(await run("npm", ["ls", "--json", "--depth=0"])) as {
    dependencies: Record<string, { version: string }>;
  };
  return Object.entries(listed.dependencies)
    .map(([name, { version }]) => `${name} ${version}`)
    .join(", ");
}

/** Strict types, as a partner's project has them; the bundler's way, because generated code leaves out file endings. */
export const typeCheck = ({ run }: Workshop, file: string): Promise<string> =>
  run("npx", [
    "tsc",
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--allowImportingTsExtensions",
    "--target",
    "es2022",
    "--module",
    "esnext",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2023,dom,dom.iterable",
    "--types",
    "node",
    file,
  ]);

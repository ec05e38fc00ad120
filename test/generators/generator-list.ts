import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { flows, installPackages, openApiGenerate, tsx, typeCheck, type Workshop } from "./workshop.ts";

/** How the flow of a generated client is started. */
export interface Flow {
  /** Of the tools, as they say it themselves. */
  versions: string;
  program: string;
  args: readonly string[];
}

export interface Generator {
  name: string;
  /** Without one of them it is left out. */
  programs: readonly { name: string; versionFlag?: string }[];
  /** Generates a client from the description, compiles it together with the flow, and says how to run it. */
  build(workshop: Workshop): Promise<Flow>;
}

const java = { name: "java", versionFlag: "-version" };
const maven = { name: "mvn" };
const go = { name: "go", versionFlag: "version" };

const flow = (file: string): string => join(flows, file);
/** Answers may have fields that are newer than the client. */
const tolerant = ["--additional-properties", "disallowAdditionalPropertiesIfNotPresent=false"];
/** By default it requires fields that have a default. */
const optional = ["--default-non-nullable", "false"];
const typescript = ["typescript@5", "@types/node@20"];

export const generators: readonly Generator[] = [
  {
    name: "openapi-generator-python",
    programs: [java, maven, { name: "python3" }],
    build: async (workshop) => {
      const { folder, run } = workshop;
      const versions = await openApiGenerate(workshop, "python", join(folder, "client"));
      await run("python3", ["-m", "venv", "venv"]);
      const python = join(folder, "venv/bin/python");
      await run(python, ["-m", "pip", "install", "--quiet", "./client"]);
      return {
        versions: `${versions}, ${await run(python, ["-V"])}`,
        program: python,
        args: [flow("openapi-generator-python.py")],
      };
    },
  },
  {
    name: "openapi-generator-java",
    programs: [java, maven],
    build: async (workshop) => {
      const { folder, run } = workshop;
      const versions = await openApiGenerate(workshop, "java", folder, tolerant);
      await copyFile(flow("openapi-generator-java.java"), join(folder, "src/main/java/Flow.java"));
      await run("mvn", ["-q", "-B", "-DskipTests", "compile"]);
      await run("mvn", ["-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=classpath"]);
      const libraries = await readFile(join(folder, "classpath"), "utf8");
      const args = ["-cp", `target/classes:${libraries}`, "Flow"];
      return { versions: `${versions}, Java ${await javaVersion(workshop)}`, program: "java", args };
    },
  },
  {
    name: "openapi-generator-go",
    programs: [java, maven, go],
    build: async (workshop) => {
      const { folder, run } = workshop;
      const versions = await openApiGenerate(workshop, "go", folder, tolerant);
      await mkdir(join(folder, "flow"));
      await copyFile(flow("openapi-generator-go.go"), join(folder, "flow/main.go"));
      await run("go", ["mod", "tidy"]);
      await run("go", ["vet", "./..."]);
      await run("go", ["build", "-o", "run-flow", "./flow"]);
      const version = (await run("go", ["version"])).split(" ")[2];
      return { versions: `${versions}, ${version}`, program: join(folder, "run-flow"), args: [] };
    },
  },
  {
    name: "openapi-generator-typescript",
    programs: [java, maven, { name: "npm" }],
    build: async (workshop) => {
      const versions = await openApiGenerate(workshop, "typescript-fetch", join(workshop.folder, "generated"));
      return typescriptFlow(workshop, "openapi-generator-typescript.ts", versions, typescript);
    },
  },
  {
    name: "openapi-typescript",
    programs: [{ name: "npm" }],
    build: async (workshop) => {
      const packages = await installPackages(workshop, [...typescript, "openapi-typescript@7", "openapi-fetch@0"]);
      await workshop.run("npx", ["openapi-typescript", workshop.classic, "-o", "generated.ts", ...optional]);
      return typescriptFlow(workshop, "openapi-typescript.ts", packages);
    },
  },
  {
    name: "hey-api",
    programs: [{ name: "npm" }],
    build: async (workshop) => {
      const packages = await installPackages(workshop, [...typescript, "@hey-api/openapi-ts@0"]);
      await workshop.run("npx", ["openapi-ts", "-i", workshop.modern, "-o", "generated"]);
      return typescriptFlow(workshop, "hey-api.ts", packages);
    },
  },
];

async function typescriptFlow(
  workshop: Workshop,
  file: string,
  versions: string,
  packages: string[] = [],
): Promise<Flow> {
  const installed = packages.length > 0 ? `${versions}, ${await installPackages(workshop, packages)}` : versions;
  await copyFile(flow(file), join(workshop.folder, "flow.ts"));
  await typeCheck(workshop, "flow.ts");
  return { versions: installed, program: tsx, args: ["flow.ts"] };
}

const javaVersion = async ({ run }: Workshop): Promise<string | undefined> =>
  (await run("java", ["--version"])).split(" ")[1];

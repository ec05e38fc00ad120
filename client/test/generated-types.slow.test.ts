import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTestApi, type TestApi } from "../../test/support/api.ts";
import { operations } from "../src/operations.ts";

const root = resolve(import.meta.dirname, "../..");
const src = join(root, "client/src");

describe("the client package", () => {
  let api: TestApi;
  let description: string;

  beforeAll(async () => {
    api = await openTestApi();
    description = (await api.app.inject({ method: "GET", url: "/api/schema/?format=json" })).body;
  });
  afterAll(() => api.close());

  it.each(["generate-client-types.mjs", "generate-python-client.mjs"])(
    "has the types that the served description gives: %s",
    (name) => {
      const script = join(root, "scripts", name);
      expect(() =>
        execFileSync(process.execPath, [script, "--stdin", "--check"], { input: description, stdio: "pipe" }),
      ).not.toThrow();
    },
  );

  it("calls every operation from Python too", () => {
    const folder = join(root, "clients/python/src/vigil_client/_sync");
    const code = readdirSync(folder).map((file) =>
      file.endsWith(".py") ? readFileSync(join(folder, file), "utf8") : "",
    );
    expect(Object.keys(operations).filter((id) => !code.join("\n").includes(`"${id}"`))).toEqual([]);
  });

  it("has a method for every operation", () => {
    const code = readdirSync(src)
      .filter((file) => file !== "operations.ts" && file !== "schemas.ts")
      .map((file) => readFileSync(join(src, file), "utf8"))
      .join("\n");
    expect(Object.keys(operations)).toHaveLength(72);
    expect(Object.keys(operations).filter((id) => !code.includes(`"${id}"`))).toEqual([]);
  });

  it("depends on nothing but what Node, Deno and Bun have", () => {
    const imports = readdirSync(src).flatMap((file) =>
      [...readFileSync(join(src, file), "utf8").matchAll(/from "([^"]+)"/g)].map((match) => match[1] as string),
    );
    const outside = new Set(imports.filter((name) => !/^\.\/[\w-]+\.ts$/.test(name)));
    expect([...outside].toSorted()).toEqual(["node:crypto", "node:fs/promises"]);
    const { dependencies } = JSON.parse(readFileSync(join(root, "client/package.json"), "utf8"));
    expect(dependencies).toBeUndefined();
  });
});

import { defineConfig } from "vitest/config";

// Continuous integration wants the counts as data beside what people read.
const json = process.env.VITEST_JSON;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // One shared module world per worker: three times less CPU on two cores, and it keeps the code free of module state.
    isolate: false,
    pool: "forks",
    maxWorkers: 2,
    globalSetup: ["test/support/global-setup.ts"],
    reporters: json ? ["default", "json"] : ["default"],
    ...(json ? { outputFile: { json } } : {}),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});

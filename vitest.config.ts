import { availableParallelism } from "node:os";
import { defineConfig, mergeConfig } from "vitest/config";

// Continuous integration wants the counts as data beside what people read.
const json = process.env.VITEST_JSON;

/** `npm test` and `npm run test:slow` differ in their files only. */
export const shared = defineConfig({
  test: {
    // One shared module world per worker: three times less CPU, one application for the API files, and no module state in src.
    isolate: false,
    pool: "forks",
    maxWorkers: availableParallelism(),
    globalSetup: ["test/support/global-setup.ts"],
    reporters: json ? ["default", "json"] : ["default"],
    ...(json ? { outputFile: { json } } : {}),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // A condition that comes true within a second here may take several on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // A machine for continuous integration is shared: there a failure counts when it repeats. At the desk every failure counts.
    retry: process.env.CI ? 1 : 0,
  },
});

export default mergeConfig(
  shared,
  defineConfig({
    test: {
      include: ["{src,test,web,client}/**/*.test.ts"],
      exclude: ["**/node_modules/**", "**/*.slow.test.ts", "**/*.rounds.test.ts"],
      // Many files wait for a timer or a socket; one more keeps the cores busy meanwhile.
      maxWorkers: availableParallelism() + 1,
    },
  }),
);

import { defineConfig, mergeConfig } from "vitest/config";
import { shared } from "./vitest.config.ts";

/** Rounds of crashes and of upgrades from every earlier schema: minutes each, for whoever changes what they are about. */
export default mergeConfig(
  shared,
  defineConfig({
    test: { include: ["{src,test,web,client}/**/*.rounds.test.ts"], testTimeout: 600_000, hookTimeout: 180_000 },
  }),
);

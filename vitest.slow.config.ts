import { defineConfig, mergeConfig } from "vitest/config";
import { shared } from "./vitest.config.ts";

/** Tests that start whole processes, kill them, convert audio by the minute or try thousands of inputs. */
export default mergeConfig(
  shared,
  defineConfig({
    // A process that starts takes two seconds on a quiet machine and half a minute on a busy one.
    test: { include: ["{src,test,web,client}/**/*.slow.test.ts"], testTimeout: 180_000, hookTimeout: 180_000 },
  }),
);

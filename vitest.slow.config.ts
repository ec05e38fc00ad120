import { defineConfig, mergeConfig } from "vitest/config";
import { shared } from "./vitest.config.ts";

/** Tests that start whole processes, kill them, convert audio by the minute or try thousands of inputs. */
export default mergeConfig(shared, defineConfig({ test: { include: ["{src,test}/**/*.slow.test.ts"] } }));

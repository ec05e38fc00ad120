import { defineConfig } from "vite";

/** The console, built to files with hashed names that the API process serves. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    assetsDir: "assets",
    assetsInlineLimit: 0,
    cssCodeSplit: true,
    target: "es2022",
    // The map alone is larger than the default limit, and is loaded when it is needed.
    chunkSizeWarningLimit: 1500,
  },
});

import { expect, test } from "vitest";
import { isEspeakInstalled } from "./espeak.ts";
import { VoiceService } from "./voice-service.ts";

test("espeak finds out whether the speech engine is installed without loading it", () => {
  expect(isEspeakInstalled("fastify")).toBe(true);
  expect(isEspeakInstalled("@echogarden/no-such-engine")).toBe(false);
});

test.each([
  [{ kind: "espeak" }, false, false],
  [{ kind: "espeak" }, true, true],
  [{ kind: "http", url: "http://127.0.0.1:1/" }, false, true],
  [{ kind: "off" }, true, false],
] as const)("espeak speaks with %j and the engine installed (%s): %s", async (setting, hasEngine, speaks) => {
  const service = new VoiceService(setting, { hasEngine });
  expect(service.speaks).toBe(speaks);
  await service.close();
});

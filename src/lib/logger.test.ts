import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { toggleDebug } from "./logger.ts";

test("changes between the configured level and debug, and says so at either", () => {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }));
  log.debug("not written");
  toggleDebug(log, "warn");
  log.debug("written");
  toggleDebug(log, "warn");
  log.info("not written");
  expect(log.level).toBe("warn");
  const said = lines.map((line) => JSON.parse(line) as { msg: string; log_level?: string });
  expect(said.map(({ msg, log_level }) => log_level ?? msg)).toEqual(["debug", "written", "warn"]);
});

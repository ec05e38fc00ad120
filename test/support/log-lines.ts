import { Writable } from "node:stream";
import { pino } from "pino";
import { type Logger, makeLogger } from "../../src/lib/logger.ts";

/** A logger that says everything into the list; silent without one. */
export const logInto = (lines: string[] | undefined): Logger =>
  lines
    ? pino({ level: "trace" }, new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }))
    : makeLogger("silent");

/** The program of one process of a service that runs in several. Its supervisor says what it does and when it stops. */
import { explainFailure } from "../cli/failures.ts";
import { makeLogger, toggleDebug } from "../lib/logger.ts";
import { type RunningService, startService } from "../service.ts";
import type { ChildStart, Order, Report } from "./child-messages.ts";

const report = (message: Report): void => {
  process.send?.(message);
};

/** Resolves when the message is on its way, or nobody is there to hear it. */
const reported = (message: Report): Promise<void> =>
  new Promise((done) => {
    if (!process.send?.(message, undefined, {}, () => done())) done();
  });

let stop: () => void = () => undefined;
const stopped = new Promise<void>((done) => {
  stop = done;
});
let service: RunningService | undefined;

async function run({ name, config, connection, gateways }: ChildStart): Promise<number> {
  const log = makeLogger(config.logLevel, { buffered: true }).child({ process: name });
  process.on("SIGUSR2", () => toggleDebug(log, config.logLevel));
  try {
    service = await startService(config, log, { connection, gateways });
  } catch (error) {
    log.debug({ err: error }, "the process could not start");
    await reported({ kind: "failed", reason: explainFailure(error) });
    return 1;
  }
  const { http, gateway, udp, isEmpty } = service;
  report({ kind: "ready", http, gateway, udp, isEmpty });
  await stopped;
  await service.close();
  return 0;
}

async function answer(id: number, question: "metrics" | "readiness"): Promise<void> {
  if (question === "metrics") report({ kind: "answer", id, text: service?.metrics.render() ?? "" });
  else report({ kind: "answer", id, text: service ? ((await service.notReady()) ?? "") : "starting" });
}

// Without a supervisor nobody restarts or stops it. It leaves as if killed, which loses nothing that was acknowledged: an orderly
// exit writes the rest of its log first, and would wait for ever for a reader that no longer exists.
process.prependListener("disconnect", () => process.kill(process.pid, "SIGKILL"));
// Ctrl-C reaches every process of the terminal; the supervisor hears it and says when to stop.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", stop);
process.on("message", (order: Order) => {
  if (order.kind === "start") void run(order.start).then((code) => process.exit(code));
  else if (order.kind === "stop") stop();
  else void answer(order.id, order.question);
});
report({ kind: "hello" });

import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { iwLogin, iwPosition } from "./fleet.ts";

/** A watch that reports one position after the other, each when the one before was acknowledged. */
export interface SteadyWatch {
  uid: string;
  /** Times of acknowledged positions, in milliseconds. */
  acknowledged: number[];
  /** Resolves when the last time was acknowledged. */
  finished: Promise<void>;
  /** Resolves when the last answer has come. */
  stop(): Promise<void>;
}

/** `times` are those of the device's clock, which has seconds. Ends by itself after the last one. */
export function startSteadyWatch(
  gateway: string,
  uid: string,
  times: Iterable<number>,
  { frame = iwPosition, answer = "IWBP01" } = {},
): SteadyWatch {
  const [host = "", port = ""] = gateway.split(":");
  const socket = connect({ host, port: Number(port), noDelay: true });
  socket.on("error", () => undefined);
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk.toString("latin1");
  });
  let isStopped = false;
  const acknowledged: number[] = [];
  const answerTo = async (sent: string, expected: string): Promise<void> => {
    heard = "";
    socket.write(sent);
    for (const giveUpAt = Date.now() + 60_000; !heard.includes(expected); await setTimeout(5)) {
      if (Date.now() > giveUpAt) throw new Error(`no ${expected} for ${uid}, but "${heard}"`);
    }
  };
  const run = async (): Promise<void> => {
    await answerTo(iwLogin(uid), "IWBP00");
    for (const time of times) {
      if (isStopped) break;
      await answerTo(frame(time), answer);
      acknowledged.push(time);
      // Below the packets that a device may send in a minute.
      await setTimeout(120);
    }
    socket.destroy();
  };
  const ended = run();
  ended.catch(() => undefined);
  return {
    uid,
    acknowledged,
    finished: ended,
    stop: () => {
      isStopped = true;
      return ended;
    },
  };
}

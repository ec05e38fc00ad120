import { openSocket } from "./attackers.ts";
import { iwLogin, iwSos } from "./fleet.ts";

/** An honest IW watch that calls for help now and then, and notes how long the answer took. */
export class SosWatch {
  readonly times: number[] = [];
  readonly #port: number;
  readonly #from: string;
  readonly imei: string;
  #socket: ReturnType<typeof openSocket> | undefined;
  #isIn = false;
  #onIn: (() => void) | undefined;
  #sentAtMs = 0;
  #frame = "";
  #timeMs = Math.floor(Date.now() / 1000) * 1000 - 86_400_000;
  #isClosed = false;

  constructor(port: number, from: string, imei: string) {
    this.#port = port;
    this.#from = from;
    this.imei = imei;
    this.#connect();
  }

  /** Milliseconds since the call that waits for its answer; 0: none does. */
  get waitingMs(): number {
    return this.#sentAtMs === 0 ? 0 : performance.now() - this.#sentAtMs;
  }

  get isIn(): boolean {
    return this.#isIn;
  }

  loggedIn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isIn) resolve();
      else this.#onIn = resolve;
    });
  }

  /** Alarms are more than a minute apart on the watch's clock, so that each is an event of its own. */
  callForHelp(): void {
    if (this.#sentAtMs > 0) return;
    this.#timeMs += 61_000;
    this.#frame = iwSos(this.#timeMs);
    this.#sentAtMs = performance.now();
    if (this.#isIn) this.#socket?.write(this.#frame);
  }

  #connect(): void {
    if (this.#isClosed) return;
    const socket = openSocket(this.#port, this.#from);
    this.#socket = socket;
    let text = "";
    socket.on("connect", () => socket.write(iwLogin(this.imei)));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("#"); end >= 0; end = text.indexOf("#")) {
        this.#hear(text.slice(0, end));
        text = text.slice(end + 1);
      }
    });
    socket.on("close", () => {
      this.#isIn = false;
      setTimeout(() => this.#connect(), 200);
    });
  }

  #hear(frame: string): void {
    if (frame.startsWith("IWBP00")) {
      this.#isIn = true;
      this.#onIn?.();
      // As watches do: what was not answered is sent again.
      if (this.#sentAtMs > 0) this.#socket?.write(this.#frame);
    } else if (frame.startsWith("IWBP10") && this.#sentAtMs > 0) {
      this.times.push(performance.now() - this.#sentAtMs);
      this.#sentAtMs = 0;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }
}

export const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;

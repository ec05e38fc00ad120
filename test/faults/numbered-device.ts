import { connect, type Socket } from "node:net";
import { iwHeartbeat, iwLogin, iwPosition, iwSos } from "../support/fleet.ts";

const dayMs = 86_400_000;

/**
 * A device that numbers its packets and remembers which were acknowledged. With a clock it sends a packet again until it is
 * acknowledged, as devices do; without one it never repeats a packet, because nobody could tell a repetition.
 */
export class NumberedDevice {
  readonly uid: string;
  readonly hasClock: boolean;
  readonly acknowledged = new Set<number>();
  sent = 0;
  readonly #port: () => number;
  readonly #random: () => number;
  readonly #baseMs: number;
  #socket: Socket | undefined;
  #next = 1;
  #isStopped = false;
  #isIdle = true;

  constructor(uid: string, hasClock: boolean, baseMs: number, port: () => number, random: () => number) {
    this.uid = uid;
    this.hasClock = hasClock;
    this.#baseMs = baseMs;
    this.#port = port;
    this.#random = random;
    this.#connect();
  }

  /** Every tenth packet of a device with a clock calls for help. */
  isSos(n: number): boolean {
    return this.hasClock && n % 10 === 0;
  }

  /** The time, in whole seconds, that numbers a packet. Alarms are more than a minute apart, so that each one is an event. */
  timeOf(n: number): number {
    return this.isSos(n) ? this.#baseMs + 2 * dayMs + (n / 10) * 61_000 : this.#baseMs + n * 1000;
  }

  #frameOf(n: number): string {
    if (!this.hasClock) return iwHeartbeat(n);
    return this.isSos(n) ? iwSos(this.timeOf(n)) : iwPosition(this.timeOf(n));
  }

  get isIdle(): boolean {
    return this.#isIdle;
  }

  #connect(): void {
    this.#isIdle = true;
    if (this.#isStopped) return;
    const socket = connect({ host: "127.0.0.1", port: this.#port(), noDelay: true });
    this.#socket = socket;
    let text = "";
    let underWay = 0;
    const send = (): void => {
      if (this.#isStopped) return;
      underWay = this.#next;
      this.#isIdle = false;
      this.sent++;
      if (!this.hasClock) this.#next++;
      socket.write(this.#frameOf(underWay));
    };
    socket.on("connect", () => socket.write(iwLogin(this.uid)));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("#"); end >= 0; end = text.indexOf("#")) {
        const frame = text.slice(0, end);
        text = text.slice(end + 1);
        if (/^IWBP(01|03|10)/.test(frame)) {
          this.acknowledged.add(underWay);
          if (this.hasClock) this.#next = underWay + 1;
          this.#isIdle = true;
          if (this.#random() < 0.2) setTimeout(send, this.#random() * 30);
          else send();
        } else if (frame.startsWith("IWBP00")) send();
      }
    });
    socket.on("error", () => undefined);
    socket.on("close", () => setTimeout(() => this.#connect(), 20 + this.#random() * 150));
  }

  stop(): void {
    this.#isStopped = true;
  }

  close(): void {
    this.#isStopped = true;
    this.#socket?.destroy();
  }
}

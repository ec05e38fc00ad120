import { connect, type Socket } from "node:net";
import { iwLogin } from "../support/fleet.ts";

/** How a watch behaves: answers at once, late, by chance, never; or is hardly ever there. */
export type Manner = "prompt" | "late" | "moody" | "silent" | "away";

/** A watch on a socket that remembers what it was told, and what it has answered. */
export class CommandedWatch {
  readonly uid: string;
  readonly manner: Manner;
  /** By serial: how often the command came. */
  readonly received = new Map<string, number>();
  readonly answered = new Set<string>();
  readonly #port: () => number;
  readonly #random: () => number;
  #socket: Socket | undefined;
  #isClosed = false;

  constructor(uid: string, manner: Manner, port: () => number, random: () => number) {
    this.uid = uid;
    this.manner = manner;
    this.#port = port;
    this.#random = random;
    if (manner !== "away") this.#connect();
  }

  #connect(): void {
    if (this.#isClosed) return;
    const socket = connect({ host: "127.0.0.1", port: this.#port(), noDelay: true });
    this.#socket = socket;
    let text = "";
    socket.on("connect", () => socket.write(iwLogin(this.uid)));
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("#"); end >= 0; end = text.indexOf("#")) {
        this.#take(text.slice(0, end), socket);
        text = text.slice(end + 1);
      }
    });
    socket.on("error", () => undefined);
    socket.on("close", () => setTimeout(() => this.#connect(), 20 + this.#random() * 200));
  }

  #take(frame: string, socket: Socket): void {
    const [code = "", imei, serial = ""] = frame.split(",");
    if (imei !== this.uid) return;
    this.received.set(serial, (this.received.get(serial) ?? 0) + 1);
    const answer = (): void => {
      this.answered.add(serial);
      socket.write(`IWAP${code.slice(4)},${serial}#`);
    };
    if (this.manner === "prompt") answer();
    else if (this.manner === "late") setTimeout(answer, this.#random() * 5000);
    else if (this.manner === "moody") {
      const mood = this.#random();
      if (mood < 0.3) socket.destroy();
      else if (mood < 0.7) answer();
      else if (mood < 0.8) for (let count = 0; count < 3; count++) answer();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }
}

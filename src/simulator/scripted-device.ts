import type { DeviceProtocol, Packet, Snapshot } from "./device-protocol.ts";
import type { FleetMember } from "./fleet.ts";
import { momentAt } from "./life.ts";
import type { Link, OpenLink } from "./link.ts";
import { sightingAt } from "./sighting.ts";

/** What the script says of the moment; everything else is that of the person. */
export interface Scene {
  lat: number;
  lng: number;
  pulse?: number;
  battery?: number;
}

export interface ScriptedDeviceOptions {
  member: FleetMember;
  protocol: DeviceProtocol;
  openLink: OpenLink;
  nowMs(): number;
}

const answerTimeoutMs = 30_000;

/** A watch that does what its script says, step by step. It obeys commands as others do. */
export class ScriptedDevice {
  readonly #options: ScriptedDeviceOptions;
  #link: Link | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #awaited: { answer: string | null; resolve(): void; reject(error: Error): void } | undefined;

  constructor(options: ScriptedDeviceOptions) {
    this.#options = options;
  }

  /** Resolves when the service has accepted the login. */
  connect(scene: Scene): Promise<void> {
    const { protocol, member, openLink } = this.#options;
    return this.#awaitAnswer(null, () => {
      this.#link = openLink({
        onOpen: () => this.#link?.write(protocol.login(member, this.snapshot(scene)).bytes),
        onBytes: (bytes) => this.#read(bytes),
        onClose: (cause) => this.#fail(cause ?? "the service closed the connection"),
      });
    });
  }

  snapshot({ lat, lng, pulse, battery }: Scene): Snapshot {
    const { member, nowMs } = this.#options;
    const atMs = nowMs();
    const moment = momentAt(member.person, atMs);
    const life = { ...moment, lat, lng, pulse: pulse ?? 72, battery: battery ?? 81 };
    const gps = { lat, lng, altitudeM: 37, speedKmh: 3.2, heading: 118, satellites: 9, accuracyM: 10 };
    return { atMs, life, seen: { ...sightingAt(member.person, atMs, life, false), gps } };
  }

  /** Resolves when the service has stored all of them. */
  async send(...packets: readonly Packet[]): Promise<void> {
    for (const { bytes, answer } of packets) {
      if (!this.#link) throw new Error("the watch has no connection");
      if (answer === null) this.#link.write(bytes);
      else await this.#awaitAnswer(answer, () => this.#link?.write(bytes));
    }
  }

  close(): void {
    this.#fail("closed");
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }

  #awaitAnswer(answer: string | null, begin: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail("no answer"), answerTimeoutMs);
      const end = (): void => {
        clearTimeout(timer);
        this.#awaited = undefined;
      };
      this.#awaited = {
        answer,
        resolve: () => {
          end();
          resolve();
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      begin();
    });
  }

  #fail(cause: string): void {
    this.#awaited?.reject(new Error(cause));
  }

  #read(bytes: Buffer): void {
    const { protocol, member } = this.#options;
    const { messages, rest } = protocol.read(member, Buffer.concat([this.#rest, bytes]));
    this.#rest = rest;
    for (const message of messages) {
      if (message.kind === "command") for (const ack of message.acks) this.#link?.write(ack);
      // The first answer of a connection is that to the login.
      else if (message.kind === "answer" && (this.#awaited?.answer ?? message.answer) === message.answer) {
        this.#awaited?.resolve();
      }
    }
  }
}

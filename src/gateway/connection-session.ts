import type { Session, SessionDevice, SessionMemory } from "../codecs/protocol-definition.ts";
import type { DecodedFrame } from "../codecs/stream-decoder.ts";

/** Of a device that waits for no answer; shared, so that an idle device costs few bytes. */
export const noSerials: ReadonlySet<string> = new Set<string>();

/** What one connection's codec may know. Most devices never have anything noted, so the notes are made when there is a first. */
export class ConnectionSession implements Session, SessionMemory {
  nowMs = 0;
  device: SessionDevice | undefined;
  #notes: Map<string, string> | undefined;

  get memory(): SessionMemory {
    return this;
  }

  get(key: string): string | undefined {
    return this.#notes?.get(key);
  }

  has(key: string): boolean {
    return this.#notes?.has(key) === true;
  }

  set(key: string, value: string): void {
    this.#notes ??= new Map();
    this.#notes.set(key, value);
  }

  delete(key: string): void {
    this.#notes?.delete(key);
  }

  keys(): Iterable<string> {
    return this.#notes?.keys() ?? [];
  }
}

/** Of a login that is not stored and answered yet. */
export interface PendingLogin {
  frame: DecodedFrame;
  /** What came after the login, before the login was answered. */
  tailBytes: number;
  /** Takes a login back that waits for its turn. */
  withdraw: (() => void) | undefined;
}

import type { Ingest } from "../../src/ingest/ingest.ts";
import { type Packet, sizeOf } from "../../src/ingest/packet.ts";

/** Keeps the packets of an organization until they are released, as if only its devices waited for their commit. */
export class HeldIngest implements Ingest {
  readonly #ingest: Ingest;
  readonly #isHeld: (packet: Packet) => boolean;
  readonly held: Packet[] = [];
  #heldBytes = 0;
  #isReleased = false;

  constructor(ingest: Ingest, isHeld: (packet: Packet) => boolean) {
    this.#ingest = ingest;
    this.#isHeld = isHeld;
  }

  submit(packet: Packet): void {
    if (this.#isReleased || !this.#isHeld(packet)) {
      this.#ingest.submit(packet);
      return;
    }
    this.held.push(packet);
    this.#heldBytes += sizeOf(packet);
  }

  get queuedFrames(): number {
    return this.#ingest.queuedFrames + this.held.length;
  }

  get queuedBytes(): number {
    return this.#ingest.queuedBytes + this.#heldBytes;
  }

  release(): void {
    this.#isReleased = true;
    this.#heldBytes = 0;
    for (const packet of this.held.splice(0)) this.#ingest.submit(packet);
  }

  onSettled(listener: () => void): void {
    this.#ingest.onSettled(listener);
  }

  drain(timeoutMs: number): Promise<void> {
    this.release();
    return this.#ingest.drain(timeoutMs);
  }

  close(): Promise<void> {
    return this.#ingest.close();
  }
}

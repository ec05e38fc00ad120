import { Readable } from "node:stream";
import type { PersonPrincipal } from "../../http/principal.ts";
import { isAtLeast } from "../../oauth/roles.ts";

/**
 * What may wait for a reader when more comes. A reader that falls further behind is disconnected, and asks again with the last id.
 * What comes at once does not count: a batch that is larger than this would disconnect everybody, again and again.
 */
const maxWaitingBytes = 4 * 1024 * 1024;

/** One open stream of a person: what is written goes out as the connection takes it. */
export class LiveStream {
  readonly output: Readable;
  readonly lastEventId: string | undefined;
  principal: PersonPrincipal;
  /** Of people below ADMIN: the devices assigned to them. */
  deviceIds: ReadonlySet<string> = new Set();

  constructor(principal: PersonPrincipal, lastEventId: string | undefined, onClose: () => void) {
    this.principal = principal;
    this.lastEventId = lastEventId;
    this.output = new Readable({ read: () => undefined });
    this.output.once("close", onClose);
  }

  get organizationId(): string {
    return this.principal.organization.id;
  }

  get seesAll(): boolean {
    return isAtLeast(this.principal.person.role, "ADMIN");
  }

  sees(deviceId: string): boolean {
    return this.seesAll || this.deviceIds.has(deviceId);
  }

  write(chunk: string | Buffer): void {
    if (chunk.length === 0 || this.output.destroyed) return;
    if (this.output.readableLength > maxWaitingBytes) this.output.destroy();
    else this.output.push(chunk);
  }

  /** After what has been written. */
  end(): void {
    if (!this.output.destroyed) this.output.push(null);
  }
}

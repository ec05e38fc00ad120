import type { DecodedFrame } from "../codecs/stream-decoder.ts";
import { sizeOf } from "../ingest/packet.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { PacketBucket } from "./packet-rate.ts";
import type { BudgetUser, TenantBudget } from "./tenant-budgets.ts";

/** What a logged-in device is measured by. */
export interface DeviceBudgets {
  rate: PacketBucket;
  tenant: TenantBudget;
}

/** The frames of one peer that wait for their commit, and whether it may send more (section 30, Fairness). */
export class Inflow {
  readonly #limits: GatewayLimits;
  readonly #user: BudgetUser;
  /** Undefined until a device has logged in. */
  #rate: PacketBucket | undefined;
  #tenant: TenantBudget | undefined;
  #bytes = 0;
  /** That were read and are not decoded, because there was no room. */
  #undecodedBytes = 0;
  /** The last chunk held more than could be decoded: the peer uploads what it has stored, or floods. */
  #hasBacklog = false;
  frames = 0;

  constructor(limits: GatewayLimits, user: BudgetUser) {
    this.#limits = limits;
    this.#user = user;
  }

  measureBy({ rate, tenant }: DeviceBudgets): void {
    this.#rate = rate;
    this.#tenant = tenant;
  }

  /**
   * Frames that may be decoded now. Where its organization has no room, one frame of a peer of which nothing waits is heard all the
   * same, because it may call for help, up to twice the room; others are told when there is room again.
   */
  roomAt(nowMs: number): number {
    const tenant = this.#tenant;
    if (!tenant?.isFull) return this.#ownRoomAt(nowMs);
    if (this.frames === 0 && !tenant.isOverfull) return Math.min(1, this.#ownRoomAt(nowMs));
    tenant.pause(this.#user);
    return 0;
  }

  /** Before the login it is one, which is the login. */
  #ownRoomAt(nowMs: number): number {
    if (!this.#rate) return 1;
    if (this.#bytes >= this.#limits.waitingBytes) return 0;
    return Math.max(0, Math.min(this.#limits.waitingFrames - this.frames, this.#rate.allowance(nowMs)));
  }

  /** Counts what was decoded, with what follows of it to ingest. */
  add(frame: DecodedFrame): void {
    const size = sizeOf({ frame });
    this.frames++;
    this.#bytes += size;
    this.#rate?.take(frame.raw.length);
    this.#tenant?.add(size);
  }

  remove(frame: DecodedFrame): void {
    const size = sizeOf({ frame });
    this.frames--;
    this.#bytes -= size;
    this.#tenant?.remove(size);
  }

  /** After each decoding: so much was read and not decoded, because enough of this device is in progress. */
  leaveUndecoded(bytes: number): void {
    const change = bytes - this.#undecodedBytes;
    if (bytes > 0) this.#hasBacklog = true;
    else if (change === 0) this.#hasBacklog = false;
    if (change === 0) return;
    this.#undecodedBytes = bytes;
    this.#tenant?.addUndecoded(change);
  }

  get hasMore(): boolean {
    return this.#undecodedBytes > 0;
  }

  /** What came with the login was read whoever it is from: without a limit, enough logins would hold any amount. */
  hasRoomForTail(bytes: number): boolean {
    return bytes <= this.#limits.unloggedBytes || this.#tenant?.isStopped !== true;
  }

  /** Half of what may wait is free again: worth decoding more. */
  get isHalfFree(): boolean {
    return this.frames * 2 <= this.#limits.waitingFrames && this.#bytes * 2 <= this.#limits.waitingBytes;
  }

  mayRead(pendingBytes: number, nowMs: number): boolean {
    if (!this.#rate) return true;
    if (this.#bytes + pendingBytes >= this.#limits.waitingBytes || this.#ownRoomAt(nowMs) === 0) return false;
    const isQuiet = this.frames === 0 && !this.#hasBacklog;
    return this.#tenant?.mayRead(this.#user, isQuiet) !== false;
  }

  leave(): void {
    this.#tenant?.leave(this.#user);
  }
}

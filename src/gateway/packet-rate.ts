/** How fast one device may be read: a bucket of packets that refills steadily. */
export interface PacketRateLimits {
  packetsPerMinute: number;
  packetBurst: number;
}

/** A packet counts once for each 4 KB that it begins: a recording is not cheaper to store than its size in positions. */
const packetUnitBytes = 4096;

export class PacketBucket {
  readonly #limits: PacketRateLimits;
  #tokens: number;
  #atMs: number;

  constructor(limits: PacketRateLimits, nowMs: number) {
    this.#limits = limits;
    this.#tokens = limits.packetBurst;
    this.#atMs = nowMs;
  }

  /** Whole packets that may be read now. */
  allowance(nowMs: number): number {
    this.#refill(nowMs);
    return Math.max(0, Math.floor(this.#tokens));
  }

  /** Counts a packet that was read, also one too many: the debt is waited for. */
  take(bytes: number): void {
    this.#tokens -= Math.max(1, Math.ceil(bytes / packetUnitBytes));
  }

  isFull(nowMs: number): boolean {
    this.#refill(nowMs);
    return this.#tokens >= this.#limits.packetBurst;
  }

  #refill(nowMs: number): void {
    const { packetsPerMinute, packetBurst } = this.#limits;
    const elapsedMs = Math.max(0, nowMs - this.#atMs);
    this.#tokens = Math.min(packetBurst, this.#tokens + (elapsedMs * packetsPerMinute) / 60_000);
    this.#atMs = nowMs;
  }
}

/** The buckets of devices, which outlive their connections: a device does not win a new burst by connecting again. */
export class PacketRates {
  readonly #limits: PacketRateLimits;
  readonly #buckets = new Map<string, PacketBucket>();

  constructor(limits: PacketRateLimits) {
    this.#limits = limits;
  }

  of(deviceId: string, nowMs: number): PacketBucket {
    let bucket = this.#buckets.get(deviceId);
    if (!bucket) {
      bucket = new PacketBucket(this.#limits, nowMs);
      this.#buckets.set(deviceId, bucket);
    }
    return bucket;
  }

  devices(): Iterator<string> {
    return this.#buckets.keys();
  }

  /** Forgets a device that is not connected and has its whole burst again. */
  forgetFull(deviceId: string, nowMs: number): void {
    if (this.#buckets.get(deviceId)?.isFull(nowMs)) this.#buckets.delete(deviceId);
  }
}

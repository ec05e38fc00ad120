import { statfs } from "node:fs/promises";
import type { Logger } from "../lib/logger.ts";
import type { Metrics } from "../lib/metrics.ts";

export interface DiskFloorOptions {
  /** On the disk that is watched. */
  folder: string;
  floorBytes: number;
  log: Logger;
  metrics: Metrics;
  /** For tests. */
  freeBytes?: (folder: string) => Promise<number>;
}

/** Room must come back by a quarter before everything is taken again: else the state would change with every packet. */
const releaseFactor = 1.25;

export async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Watches the free space of the disk. PostgreSQL stops altogether when it can write no more; before that only alarms are
 * taken, so that the last room is theirs.
 */
export class DiskFloor {
  isReached = false;
  #freeBytes = Number.NaN;
  readonly #options: DiskFloorOptions;

  constructor(options: DiskFloorOptions) {
    this.#options = options;
    const { metrics } = options;
    metrics.gauge("vigil_disk_free_bytes", "Free space on the disk of the embedded database.", () => this.#freeBytes);
    metrics.gauge("vigil_disk_floor_reached", "1 while only alarms are stored because the disk is nearly full.", () =>
      Number(this.isReached),
    );
  }

  async check(): Promise<void> {
    const { folder, floorBytes, log, freeBytes = freeBytesOf } = this.#options;
    this.#freeBytes = await freeBytes(folder);
    const isReached = this.#freeBytes < (this.isReached ? floorBytes * releaseFactor : floorBytes);
    if (isReached === this.isReached) return;
    this.isReached = isReached;
    const fields = { freeBytes: this.#freeBytes, floorBytes };
    if (isReached) log.error(fields, "the disk is nearly full: only alarms are stored until there is room");
    else log.info(fields, "there is room on the disk again: everything is stored");
  }
}

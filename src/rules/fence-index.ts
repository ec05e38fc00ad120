import type { Point } from "../lib/geo.ts";
import type { FenceSource } from "./device-fences.ts";
import type { Fence } from "./fence.ts";

/** A fence as it is stored; `revision` is that of its shape alone. */
export interface IndexedFence extends Fence {
  /** Scope user. */
  userId: string | null;
}

/** Who holds the device as owner or assigned, and a word that changes with each new assignment. */
export interface Holder {
  userId: string;
  revision: string;
}

/** The fences of one organization. */
export interface FenceIndex {
  /** The organization's rule version that the index has; the caller raises it after its changes. */
  version: number;
  readonly size: number;
  /** Many at once into an empty index. */
  load(fences: readonly IndexedFence[]): void;
  /** Adds the fence or replaces the one with its id; links stay. */
  put(fence: IndexedFence): void;
  /** Also its links. */
  remove(fenceId: string): void;
  /** Scope device; `revision` changes with each new link. */
  link(fenceId: string, deviceId: string, revision: string): void;
  unlink(fenceId: string, deviceId: string): void;
  /** Fences of every scope as they apply to this device. Good until the index changes. */
  of(deviceId: string, holders: readonly Holder[]): FenceSource;
  near(deviceId: string, holders: readonly Holder[], place: Point): Fence[];
  find(deviceId: string, holders: readonly Holder[], fenceId: string): Fence | undefined;
}

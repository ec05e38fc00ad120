import RBush from "rbush";
import type { Point } from "../lib/geo.ts";
import type { FenceSource } from "./device-fences.ts";
import { bandM, type Fence } from "./fence.ts";
import { type Box, boxesAround } from "./fence-box.ts";

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

interface BoxedFence extends Box {
  fence: IndexedFence;
}

/** The live, active fences of one organization: those of all devices by place, the others by whom they belong to. */
export class FenceIndex {
  /** The organization's rule version that the index has; the caller raises it after its changes. */
  version = 0;
  readonly #fences = new Map<string, IndexedFence>();
  readonly #places = new RBush<BoxedFence>();
  readonly #byUser = new Map<string, Set<string>>();
  /** Device, fence, revision of the link. */
  readonly #links = new Map<string, Map<string, string>>();
  readonly #devicesOf = new Map<string, Set<string>>();

  get size(): number {
    return this.#fences.size;
  }

  /** Like `put` of each, but faster for many. */
  load(fences: readonly IndexedFence[]): void {
    const boxed: BoxedFence[] = [];
    for (const fence of fences) {
      this.#forget(fence.id);
      this.#remember(fence);
      if (fence.scope === "org") for (const box of boxesOf(fence)) boxed.push(withFence(box, fence));
    }
    this.#places.load(boxed);
  }

  /** Adds the fence or replaces the one with its id, whose links stay. */
  put(fence: IndexedFence): void {
    this.#forget(fence.id);
    this.#remember(fence);
    if (fence.scope === "org") for (const box of boxesOf(fence)) this.#places.insert(withFence(box, fence));
  }

  /** Also its links. */
  remove(fenceId: string): void {
    this.#forget(fenceId);
    for (const deviceId of this.#devicesOf.get(fenceId) ?? []) this.unlink(fenceId, deviceId);
  }

  /** Scope device; `revision` changes with each new link. May come before the fence. */
  link(fenceId: string, deviceId: string, revision: string): void {
    entryOf(this.#links, deviceId, () => new Map()).set(fenceId, revision);
    entryOf(this.#devicesOf, fenceId, () => new Set()).add(deviceId);
  }

  unlink(fenceId: string, deviceId: string): void {
    const links = this.#links.get(deviceId);
    if (links?.delete(fenceId) && links.size === 0) this.#links.delete(deviceId);
    const devices = this.#devicesOf.get(fenceId);
    if (devices?.delete(deviceId) && devices.size === 0) this.#devicesOf.delete(fenceId);
  }

  /** The devices to which a fence of scope device is linked. */
  devicesOf(fenceId: string): Iterable<string> {
    return this.#devicesOf.get(fenceId) ?? [];
  }

  /** The fences as they apply to this device; to be asked for again when the index or the holders have changed. */
  sourceFor(deviceId: string, holders: readonly Holder[]): FenceSource {
    // Made once: a copy of each fence with every fix would cost more than its evaluation.
    const own = this.#ownOf(deviceId, holders);
    const ownById = new Map(own.map((fence) => [fence.id, fence]));
    return {
      version: this.version,
      near: (place) => {
        const others = this.#at(place);
        return others.length === 0 ? own : [...own, ...others];
      },
      find: (fenceId) => ownById.get(fenceId) ?? this.#findShared(fenceId),
    };
  }

  /** The fences of the device itself and of its holders, and those of the organization that could concern the place. */
  near(deviceId: string, holders: readonly Holder[], place: Point): Fence[] {
    return [...this.#ownOf(deviceId, holders), ...this.#at(place)];
  }

  #ownOf(deviceId: string, holders: readonly Holder[]): Fence[] {
    const ids = [...(this.#links.get(deviceId)?.keys() ?? [])];
    for (const { userId } of holders) ids.push(...(this.#byUser.get(userId) ?? []));
    return ids.flatMap((fenceId) => this.find(deviceId, holders, fenceId) ?? []);
  }

  #at({ lat, lng }: Point): Fence[] {
    const [x, y] = [Math.round(lng * perDegree), Math.round(lat * perDegree)];
    return this.#places.search({ minX: x, minY: y, maxX: x, maxY: y }).map(({ fence }) => fence);
  }

  #findShared(fenceId: string): Fence | undefined {
    const fence = this.#fences.get(fenceId);
    return fence?.scope === "org" ? fence : undefined;
  }

  /** Undefined: there is none, or it does not apply to this device. */
  find(deviceId: string, holders: readonly Holder[], fenceId: string): Fence | undefined {
    const fence = this.#fences.get(fenceId);
    if (fence === undefined || fence.scope === "org") return fence;
    const own =
      fence.scope === "device"
        ? this.#links.get(deviceId)?.get(fenceId)
        : holders.find(({ userId }) => userId === fence.userId)?.revision;
    return own === undefined ? undefined : { ...fence, revision: `${fence.revision}/${own}` };
  }

  #remember(fence: IndexedFence): void {
    this.#fences.set(fence.id, fence);
    if (fence.userId !== null) entryOf(this.#byUser, fence.userId, () => new Set()).add(fence.id);
  }

  #forget(fenceId: string): void {
    const fence = this.#fences.get(fenceId);
    if (fence === undefined) return;
    this.#fences.delete(fenceId);
    if (fence.scope === "org") for (const box of boxesOf(fence)) this.#places.remove(withFence(box, fence), isSame);
    if (fence.userId === null) return;
    const fenceIds = this.#byUser.get(fence.userId);
    if (fenceIds?.delete(fenceId) && fenceIds.size === 0) this.#byUser.delete(fence.userId);
  }
}

/** Wide enough for the band of the worst accuracy that still counts, which is the radius. */
const boxesOf = (fence: IndexedFence): Box[] => boxesAround(fence, fence.radiusM + bandM(fence.radiusM, fence.radiusM));

/** Whole numbers of this many to a degree need no memory of their own: at a million fences that is a fifth of the index. */
const perDegree = 1e7;

const withFence = ({ minX, minY, maxX, maxY }: Box, fence: IndexedFence): BoxedFence => ({
  minX: Math.floor(minX * perDegree),
  minY: Math.floor(minY * perDegree),
  maxX: Math.ceil(maxX * perDegree),
  maxY: Math.ceil(maxY * perDegree),
  fence,
});

const isSame = (a: BoxedFence, b: BoxedFence): boolean => a.fence === b.fence && a.minX === b.minX;

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh = make();
  map.set(key, fresh);
  return fresh;
}

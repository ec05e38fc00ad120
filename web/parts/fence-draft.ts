import type { GeofenceDetail } from "../api/types.ts";
import { type Circle, clampRadius, placeAt } from "./circle-drawing.ts";
import { problemOf, type Schedule } from "./fence-schedule.ts";

export type FenceScope = "device" | "user" | "org";

/** A fence while it is edited; numbers as they are typed. */
export interface FenceDraft {
  /** Undefined: it does not exist yet. */
  id: string | undefined;
  name: string;
  description: string;
  latitude: string;
  longitude: string;
  radius: string;
  enter: boolean;
  exit: boolean;
  dwell: boolean;
  dwellMinutes: string;
  isActive: boolean;
  schedule: Schedule | null;
  scope: FenceScope;
  person: string | undefined;
  deviceUids: string[];
}

export const newDraft = (): FenceDraft => ({
  id: undefined,
  name: "",
  description: "",
  latitude: "",
  longitude: "",
  radius: "200",
  enter: true,
  exit: true,
  dwell: false,
  dwellMinutes: "10",
  isActive: true,
  schedule: null,
  scope: "device",
  person: undefined,
  deviceUids: [],
});

export const draftOf = (fence: GeofenceDetail): FenceDraft => ({
  id: fence.id,
  name: fence.name,
  description: fence.description,
  latitude: String(fence.center.lat),
  longitude: String(fence.center.lng),
  radius: String(fence.radius),
  enter: fence.trigger_on_enter,
  exit: fence.trigger_on_exit,
  dwell: fence.trigger_on_dwell,
  dwellMinutes: String((fence.dwell_threshold_seconds ?? 600) / 60),
  isActive: fence.is_active,
  schedule: fence.schedule,
  scope: fence.scope === "group" ? "device" : fence.scope,
  person: fence.user_id ?? undefined,
  deviceUids: fence.devices.map(({ uid }) => uid),
});

const numberOf = (text: string): number => (text.trim() === "" ? Number.NaN : Number(text));

/** Undefined until the three numbers are there. */
export function circleOf({ latitude, longitude, radius }: FenceDraft): Circle | undefined {
  const [lat, lng, radiusM] = [numberOf(latitude), numberOf(longitude), numberOf(radius)];
  if (![lat, lng, radiusM].every(Number.isFinite)) return undefined;
  return { ...placeAt(lng, lat), radiusM: clampRadius(radiusM) };
}

export const withCircle = (draft: FenceDraft, { lat, lng, radiusM }: Circle): FenceDraft => ({
  ...draft,
  latitude: String(lat),
  longitude: String(lng),
  radius: String(radiusM),
});

/** What is written; undefined while the circle or the times are not complete. */
export function bodyOf(draft: FenceDraft) {
  const circle = circleOf(draft);
  if (!circle || draft.schedule?.windows.some((window) => problemOf(window) !== undefined)) return undefined;
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    center: { lat: circle.lat, lng: circle.lng },
    radius: circle.radiusM,
    trigger_on_enter: draft.enter,
    trigger_on_exit: draft.exit,
    trigger_on_dwell: draft.dwell,
    dwell_threshold_seconds: draft.dwell ? Math.max(1, Math.round(numberOf(draft.dwellMinutes) * 60) || 1) : null,
    is_active: draft.isActive,
    schedule: draft.schedule,
  };
}

/** Which links are to be made and which to be undone. */
export function linkChanges(
  before: readonly string[],
  after: readonly string[],
): { linked: string[]; unlinked: string[] } {
  return {
    linked: after.filter((uid) => !before.includes(uid)),
    unlinked: before.filter((uid) => !after.includes(uid)),
  };
}

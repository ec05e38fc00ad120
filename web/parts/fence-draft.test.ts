import { describe, expect, it } from "vitest";
import type { GeofenceDetail } from "../api/types.ts";
import { bodyOf, circleOf, draftOf, linkChanges, newDraft, withCircle } from "./fence-draft.ts";

const fence = {
  id: "f1",
  name: "Home",
  description: "",
  fence_type: "circle",
  center: { lat: 41.9, lng: 12.5 },
  radius: 150,
  trigger_on_enter: true,
  trigger_on_exit: false,
  trigger_on_dwell: true,
  dwell_threshold_seconds: 900,
  is_active: true,
  scope: "device",
  group_id: null,
  user_id: null,
  schedule: { timezone: "Europe/Rome", windows: [{ days: [1], start: "08:00", end: "24:00" }] },
  devices: [{ uid: "490154203237518", name: "Nonna" }],
  created_at: "",
  updated_at: "",
} satisfies GeofenceDetail;

describe("a fence that is edited", () => {
  it("is written as it was read when nothing is changed", () => {
    expect(bodyOf(draftOf(fence))).toEqual({
      name: "Home",
      description: "",
      center: fence.center,
      radius: 150,
      trigger_on_enter: true,
      trigger_on_exit: false,
      trigger_on_dwell: true,
      dwell_threshold_seconds: 900,
      is_active: true,
      schedule: fence.schedule,
    });
  });

  it("has no circle until all numbers are there", () => {
    expect(circleOf(newDraft())).toBeUndefined();
    expect(circleOf({ ...newDraft(), latitude: "41.9", longitude: "north" })).toBeUndefined();
    expect(bodyOf({ ...newDraft(), name: "Home" })).toBeUndefined();
  });

  it("takes the numbers of what is drawn", () => {
    const drawn = withCircle(newDraft(), { lat: 41.9, lng: 12.5, radiusM: 320 });
    expect([drawn.latitude, drawn.longitude, drawn.radius]).toEqual(["41.9", "12.5", "320"]);
    expect(bodyOf(drawn)).toMatchObject({ center: fence.center, radius: 320, dwell_threshold_seconds: null });
  });

  it("is not sent with times that the service would refuse", () => {
    const schedule = { timezone: "UTC", windows: [{ days: [], start: "08:00", end: "18:00" }] };
    expect(bodyOf({ ...draftOf(fence), schedule })).toBeUndefined();
  });

  it("links what was added and unlinks what was taken away", () => {
    expect(linkChanges(["a", "b"], ["b", "c"])).toEqual({ linked: ["c"], unlinked: ["a"] });
  });
});

import { describe, expect, it } from "vitest";
import { allScopes } from "../oauth/scopes.ts";
import { isVisible, type ReceivingIntegration, withheldReason } from "./visible-gate.ts";
import { allWebhookEventTypes, webhookEventTypes } from "./webhook-event-types.ts";

const open: ReceivingIntegration = { webhookEventTypes: [], webhookDeviceFilter: [], messagingEnabled: true };
const row = (type: (typeof allWebhookEventTypes)[number]) => ({ type, deviceUid: "490154203237518" });
const visible = (integration: ReceivingIntegration, scopes = allScopes) =>
  allWebhookEventTypes.filter((type) => isVisible(row(type), integration, scopes));

describe("the gate of push and replay", () => {
  it("shows every type but the additive ones when no types are named", () => {
    expect(visible(open)).toEqual(allWebhookEventTypes.filter((type) => !webhookEventTypes[type].additive));
  });

  it("shows only the named types, additive ones among them", () => {
    expect(visible({ ...open, webhookEventTypes: ["alarm.sos", "geofence.dwell"] })).toEqual([
      "alarm.sos",
      "geofence.dwell",
    ]);
  });

  it("wants every scope of a type, named or not", () => {
    expect(visible(open, ["events:read"])).toEqual(["alarm.sos", "alarm.fall", "alarm.low_battery"]);
    expect(visible({ ...open, webhookEventTypes: ["geofence.enter"] }, ["events:read"])).toEqual([]);
    expect(visible({ ...open, webhookEventTypes: ["webhook.test"] }, [])).toEqual(["webhook.test"]);
  });

  it("hides messages without the opt-in", () => {
    expect(visible({ ...open, messagingEnabled: false }).filter((type) => type.startsWith("message."))).toEqual([]);
    expect(visible({ ...open, messagingEnabled: false, webhookEventTypes: ["message.sent"] })).toEqual([]);
  });

  it("shows only the devices of the filter", () => {
    const filtered = { ...open, webhookDeviceFilter: ["490154203237518"] };
    expect(isVisible(row("alarm.sos"), filtered, allScopes)).toBe(true);
    expect(isVisible({ type: "alarm.sos", deviceUid: "490154203237526" }, filtered, allScopes)).toBe(false);
  });

  it("says why a row is withheld, and nothing of one that is shown", () => {
    const reason = (
      type: (typeof allWebhookEventTypes)[number],
      changes: Partial<ReceivingIntegration>,
      scopes = allScopes,
    ) => withheldReason(row(type), { ...open, ...changes }, scopes);
    expect(reason("alarm.sos", {})).toBeNull();
    expect(reason("alarm.sos", {}, ["devices:read"])).toBe("scope");
    expect(reason("message.sent", { messagingEnabled: false })).toBe("messaging");
    expect(reason("alarm.sos", { webhookEventTypes: ["alarm.fall"] })).toBe("type");
    expect(reason("geofence.dwell", {})).toBe("type");
    expect(reason("alarm.sos", { webhookDeviceFilter: ["490154203237526"] })).toBe("filter");
  });
});

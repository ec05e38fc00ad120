import { describe, expect, it } from "vitest";
import { allScopes } from "../oauth/scopes.ts";
import { isShown, type ShowingIntegration } from "./shown-gate.ts";
import { allWebhookEventTypes, webhookEventTypes } from "./webhook-event-types.ts";

const open: ShowingIntegration = { webhookEventTypes: [], webhookDeviceFilter: [], messagingEnabled: true };
const row = (type: (typeof allWebhookEventTypes)[number]) => ({ type, deviceUid: "490154203237518" });
const shown = (integration: ShowingIntegration, scopes = allScopes) =>
  allWebhookEventTypes.filter((type) => isShown(row(type), integration, scopes));

describe("the gate of push and replay", () => {
  it("shows every type but the additive ones when no types are named", () => {
    expect(shown(open)).toEqual(allWebhookEventTypes.filter((type) => !webhookEventTypes[type].additive));
  });

  it("shows only the named types, additive ones among them", () => {
    expect(shown({ ...open, webhookEventTypes: ["alarm.sos", "geofence.dwell"] })).toEqual([
      "alarm.sos",
      "geofence.dwell",
    ]);
  });

  it("wants every scope of a type, named or not", () => {
    expect(shown(open, ["events:read"])).toEqual(["alarm.sos", "alarm.fall", "alarm.low_battery"]);
    expect(shown({ ...open, webhookEventTypes: ["geofence.enter"] }, ["events:read"])).toEqual([]);
    expect(shown({ ...open, webhookEventTypes: ["webhook.test"] }, [])).toEqual(["webhook.test"]);
  });

  it("hides messages without the opt-in", () => {
    expect(shown({ ...open, messagingEnabled: false }).filter((type) => type.startsWith("message."))).toEqual([]);
    expect(shown({ ...open, messagingEnabled: false, webhookEventTypes: ["message.sent"] })).toEqual([]);
  });

  it("shows only the devices of the filter", () => {
    const filtered = { ...open, webhookDeviceFilter: ["490154203237518"] };
    expect(isShown(row("alarm.sos"), filtered, allScopes)).toBe(true);
    expect(isShown({ type: "alarm.sos", deviceUid: "490154203237526" }, filtered, allScopes)).toBe(false);
  });
});

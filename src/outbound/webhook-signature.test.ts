import { describe, expect, it } from "vitest";
import { webhookHeaders } from "./webhook-signature.ts";

/** The vector of section 19.4. */
const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
const body = Buffer.from(
  '{"id":"019ca877-8198-7a3c-9f61-2b7e5d0c4a11","type":"device.online","occurred_at":"2026-03-01T08:15:29.900Z","partner_integration_id":"8d3f0a52-6a1e-4c0e-9f0b-0f6f2c9a7b31","device":{"uid":"490154203237518","imei":"490154203237518"},"data":{"event_id":"3f0c2a7e-4f0a-4b77-8d0e-0b1a4c1f9e22","is_online":true,"reason":"connected","last_seen_at":"2026-03-01T08:15:29.900Z","previous_change_at":"2026-03-01T05:58:00.000Z"}}',
);
const event = { id: "019ca877-8198-7a3c-9f61-2b7e5d0c4a11", type: "device.online", body };
const nowMs = 1_772_352_930_999;

describe("the headers of an attempt", () => {
  it("are those of the vector", () => {
    expect(body.length).toBe(420);
    expect(webhookHeaders(event, 3, { current: secret, previous: null }, nowMs)).toEqual({
      "Content-Type": "application/json",
      "User-Agent": "Vigil-Webhooks/1",
      "Idempotency-Key": event.id,
      "X-Event-Type": "device.online",
      "X-Delivery-Attempt": "3",
      "X-Signature": "sha256=6147c2b476533599fb6362d24ae5400e86d0d98559f4aacc91ade6351a5d3c9f",
      "webhook-id": event.id,
      "webhook-timestamp": "1772352930",
      "webhook-signature": "v1,5V8saiJ3RKdpw1mpDcUivBR/gWX8eqTwGio4b1ZVL18=",
    });
  });

  it("carry both signatures during a rotation, the new one first", () => {
    const current = "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=";
    const alone = webhookHeaders(event, 1, { current, previous: null }, nowMs);
    const both = webhookHeaders(event, 1, { current, previous: secret }, nowMs);
    expect(both["X-Signature"]).toBe(alone["X-Signature"]);
    expect(both["X-Signature-Previous"]).toBe(
      "sha256=6147c2b476533599fb6362d24ae5400e86d0d98559f4aacc91ade6351a5d3c9f",
    );
    expect(both["webhook-signature"]).toBe(
      `${alone["webhook-signature"]} v1,5V8saiJ3RKdpw1mpDcUivBR/gWX8eqTwGio4b1ZVL18=`,
    );
  });
});

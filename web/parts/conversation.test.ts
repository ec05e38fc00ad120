import { describe, expect, it } from "vitest";
import type { Message } from "../api/types.ts";
import { isUnderWay, mergeMessages } from "./conversation.ts";

const message = (id: string, minute: number, status: Message["device_delivery_status"] = "pending"): Message => ({
  id,
  device_uid: "490154203237518",
  direction: "outbound",
  message_type: "text",
  text: "Time for your pills",
  is_tts: false,
  audio: null,
  sender_user_id: null,
  sender_name: "Care desk",
  device_delivery_status: status,
  failure_reason: null,
  command_uuid: null,
  ts: new Date(minute * 60_000).toISOString(),
  created_at: new Date(minute * 60_000).toISOString(),
  delivered_at: null,
  read_at: null,
});

describe("a conversation", () => {
  it("has each message once, the oldest first", () => {
    const merged = mergeMessages([message("b", 2), message("a", 1)], [message("c", 3), message("a", 1)]);
    expect(merged.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });

  it("never goes back to an earlier state of delivery", () => {
    const statusAfter = (first: Message["device_delivery_status"], second: Message["device_delivery_status"]) =>
      mergeMessages([message("a", 1, first)], [message("a", 1, second)])[0]?.device_delivery_status;
    expect(statusAfter("pending", "delivered")).toBe("delivered");
    expect(statusAfter("delivered", "sending")).toBe("delivered");
    expect(statusAfter("sending", "failed")).toBe("failed");
  });

  it("knows what is still on its way", () => {
    expect(isUnderWay(message("a", 1, "sending"))).toBe(true);
    expect(isUnderWay(message("a", 1, "failed"))).toBe(false);
    expect(isUnderWay({ ...message("a", 1), direction: "inbound" })).toBe(false);
  });
});

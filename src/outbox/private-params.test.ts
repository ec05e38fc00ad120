import { describe, expect, it } from "vitest";
import { shownBody } from "./private-params.ts";

const body = (type: string, params: unknown): string =>
  JSON.stringify({
    id: "1",
    type: "command.ack",
    data: { command_type: type, status: "ack_ok", params, result: null },
  });

describe("parameters of commands in the outbound log", () => {
  it("hide phone numbers from who may not write devices", () => {
    const stored = body("set_sos_numbers", { numbers: ["+391"] });
    expect(shownBody("command.ack", stored, ["commands:read", "devices:write"])).toBe(stored);
    expect(shownBody("command.ack", stored, ["commands:read", "messaging:read"])).toBe(
      body("set_sos_numbers", { redacted: true }),
    );
  });

  it("hide texts from who may not read messages", () => {
    const stored = body("send_message", { text: "Hello" });
    expect(shownBody("command.failed", stored, ["messaging:read"])).toBe(stored);
    expect(shownBody("command.failed", stored, ["devices:write"])).toBe(body("send_message", { redacted: true }));
  });

  it("leave everything else as it was signed", () => {
    const stored = body("locate_now", {});
    expect(shownBody("command.ack", stored, [])).toBe(stored);
    expect(shownBody("alarm.sos", "not even JSON", [])).toBe("not even JSON");
  });
});

import { describe, expect, it } from "vitest";
import { visibleBody } from "./private-params.ts";

const body = (type: string, params: unknown): string =>
  JSON.stringify({
    id: "1",
    type: "command.ack",
    data: { command_type: type, status: "ack_ok", params, result: null },
  });

describe("parameters of commands in the outbound log", () => {
  it("hide phone numbers from callers who may not write devices", () => {
    const stored = body("set_sos_numbers", { numbers: ["+391"] });
    expect(visibleBody("command.ack", stored, ["commands:read", "devices:write"])).toBe(stored);
    expect(visibleBody("command.ack", stored, ["commands:read", "messaging:read"])).toBe(
      body("set_sos_numbers", { redacted: true }),
    );
  });

  it("hide texts from callers who may not read messages", () => {
    const stored = body("send_message", { text: "Hello" });
    expect(visibleBody("command.failed", stored, ["messaging:read"])).toBe(stored);
    expect(visibleBody("command.failed", stored, ["devices:write"])).toBe(body("send_message", { redacted: true }));
  });

  it("leave everything else as it was signed", () => {
    const stored = body("locate_now", {});
    expect(visibleBody("command.ack", stored, [])).toBe(stored);
    expect(visibleBody("alarm.sos", "not even JSON", [])).toBe("not even JSON");
  });
});

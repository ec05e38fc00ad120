import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { jt808World, newForm, oldForm } from "../../../test/support/jt808-corpus.ts";
import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";
import { type Address, rememberAddress } from "./envelope.ts";
import { jt808 } from "./protocol.ts";

function encode(downlink: Downlink, address: Address | undefined = oldForm): string[] {
  const session = loggedIn(jt808World);
  if (address) rememberAddress(session, address);
  return jt808.encode(downlink, session).map((frame) => frame.toString("hex"));
}

const command = (type: string, params: object = {}, serial = "7"): Downlink => ({
  kind: "command",
  type,
  params: params as Record<string, unknown>,
  serial,
});

describe("commands for terminals", () => {
  it.each([
    ["locate_now", {}, "7e820100000139000000170007ab7e"],
    ["restart", {}, "7e810500010139000000170007 04 a97e"],
    ["power_off", {}, "7e810500010139000000170007 03 ae7e"],
    ["factory_reset", {}, "7e810500010139000000170007 05 a87e"],
    ["set_report_interval", { interval_seconds: 300 }, "7e8103000a0139000000170007 01 00000029 04 0000012c a17e"],
    [
      "set_working_mode",
      { mode: "power_saving" },
      "7e810300130139000000170007 02 00000027 04 00000e10 00000029 04 00000e10 b57e",
    ],
    ["send_message", { text: "OK 啊" }, "7e830000060139000000170007 0d 4f4b20b0a1 957e"],
  ])("writes %s", (type, params, expected) => {
    expect(encode(command(type, params))).toEqual([expected.replaceAll(" ", "")]);
  });

  it("writes texts like commands with a text, in the form of 2019 with their kind", () => {
    const text: Downlink = { kind: "text", text: "Ciao", senderName: "Care desk", serial: "65535" };
    expect(encode(text)[0]).toContain("83000005013900000017ffff0d4369616f");
    expect(encode(text, newForm)[0]).toContain("830040060100000000013900000017ffff0d014369616f");
  });

  it("escapes what it writes", () => {
    const [frame = ""] = encode(command("locate_now", {}, String(0x7e7d)));
    expect(frame).toContain("7d027d01");
  });

  it("has no voice, and says nothing of the time", () => {
    const voice: Downlink = {
      kind: "voice_part",
      senderName: "",
      serial: "1",
      total: 1,
      sequence: 1,
      bytes: Buffer.of(1),
    };
    expect(() => encode(voice)).toThrow(UnsupportedDownlink);
    expect(encode({ kind: "clock" })).toEqual([]);
    expect(() => encode(command("set_timezone"))).toThrow(UnsupportedDownlink);
    expect(() => encode(command("set_report_interval", { interval_seconds: "soon" }))).toThrow(UnsupportedDownlink);
  });

  it("knows every command that the catalog gives its models, and what the answer will be", () => {
    const params = { mode: "normal", interval_seconds: 60, text: "Hello" };
    const catalog = testCatalog();
    for (const { slug } of catalog.models.filter((model) => model.protocol_slug === "jt808")) {
      for (const { code, kind, supported } of catalog.capabilitiesOf(slug)) {
        if (kind !== "command" || !supported) continue;
        const [frame = ""] = encode(command(code, params));
        expect(jt808.answerTo?.(Buffer.from(frame, "hex"))?.word).toBe(frame.slice(2, 6).toUpperCase());
      }
    }
  });

  it("has serials of sixteen bits", () => {
    for (const sequence of [0, 2, 65_534, 65_537, 4_000_000_001]) {
      expect(Number(jt808.serialOf(sequence))).toBeLessThan(0x10000);
    }
  });
});

import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { h02World } from "../../../test/support/h02-corpus.ts";
import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";
import { h02 } from "./protocol.ts";

const command = (type: string, params: Record<string, unknown> = {}): Downlink => ({
  kind: "command",
  type,
  params,
  serial: "010203",
});
const encode = (downlink: Downlink): string[] =>
  h02.encode(downlink, loggedIn(h02World)).map((frame) => frame.toString("latin1"));

describe("commands", () => {
  it.each([
    ["locate_now", {}, "D1,010203,10,1"],
    ["restart", {}, "R1,010203"],
    ["set_report_interval", { interval_seconds: 300 }, "S71,010203,22,300"],
    ["set_working_mode", { mode: "normal" }, "S71,010203,22,600"],
    ["set_working_mode", { mode: "power_saving" }, "S71,010203,22,3600"],
    ["set_working_mode", { mode: "emergency" }, "S71,010203,22,60"],
    ["set_working_mode", { mode: "custom", interval_seconds: 45 }, "S71,010203,22,45"],
  ])("writes %s %j as %s", (type, params, content) =>
    expect(encode(command(type, params))).toEqual([`*HQ,5550001234,${content}#`]),
  );

  it("uses the letters of the maker", () => {
    const session = loggedIn(h02World);
    session.memory.set("maker", "TH");
    expect(h02.encode(command("restart"), session)[0]?.toString()).toBe("*TH,5550001234,R1,010203#");
  });

  it.each([
    ["power_off", {}],
    ["toString", {}],
    ["set_report_interval", {}],
    ["set_working_mode", { mode: "other" }],
  ])("refuses %s %j", (type, params) => expect(() => encode(command(type, params))).toThrow(UnsupportedDownlink));

  it("has no messages, and needs a device", () => {
    expect(() => encode({ kind: "text", text: "Hi", senderName: "", serial: "1" })).toThrow(UnsupportedDownlink);
    const nobody = { ...loggedIn(h02World), device: undefined };
    expect(() => h02.encode(command("restart"), nobody)).toThrow(UnsupportedDownlink);
    expect(encode({ kind: "clock" })).toEqual([]);
  });

  it("numbers commands with times of the day", () => {
    expect([0, 59, 3661, 86_399, 86_400].map((sequence) => h02.serialOf(sequence))).toEqual([
      "000000",
      "000059",
      "010101",
      "235959",
      "000000",
    ]);
  });

  it("waits for the word of the command", () => {
    expect(h02.answerTo?.(Buffer.from("*HQ,5550001234,S71,010203,22,60#"))).toEqual({ word: "S71" });
    expect(h02.answerTo?.(Buffer.from("noise"))).toBeUndefined();
  });

  it("can write every command that the catalog gives its model", () => {
    const params = { mode: "normal", interval_seconds: 60 };
    for (const capability of testCatalog().capabilitiesOf("h02-generic")) {
      if (capability.kind !== "command" || !capability.supported) continue;
      expect(encode(command(capability.code, params))).toHaveLength(1);
    }
  });
});

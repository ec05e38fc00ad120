import { describe, expect, it } from "vitest";
import { testCatalog } from "../../../test/support/catalog.ts";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { teltonikaWorld } from "../../../test/support/teltonika-corpus.ts";
import { type Downlink, UnsupportedDownlink } from "../protocol-definition.ts";
import { textFrame } from "./downlink.ts";
import { teltonika } from "./protocol.ts";

const command = (type: string): Downlink => ({ kind: "command", type, params: {}, serial: "000001" });
const encode = (downlink: Downlink): string[] =>
  teltonika.encode(downlink, loggedIn(teltonikaWorld)).map((frame) => frame.toString("hex"));

describe("commands for trackers", () => {
  it("are texts in codec 12", () => {
    // The example of the maker's own documents.
    expect(textFrame("getinfo").toString("hex")).toBe("000000000000000f0c010500000007676574696e666f0100004312");
    expect(encode(command("locate_now"))).toEqual([textFrame("getrecord").toString("hex")]);
    expect(encode(command("restart"))).toEqual([textFrame("cpureset").toString("hex")]);
  });

  it("exist for all that the catalog gives the models", () => {
    const catalog = testCatalog();
    for (const { slug } of catalog.models.filter((model) => model.protocol_slug === "teltonika")) {
      for (const { code, kind, supported } of catalog.capabilitiesOf(slug)) {
        if (kind === "command" && supported) expect(encode(command(code))).toHaveLength(1);
      }
    }
  });

  it("are refused for what trackers cannot do", () => {
    expect(() => encode(command("set_timezone"))).toThrow(UnsupportedDownlink);
    expect(() => encode({ kind: "text", text: "Ciao", senderName: "", serial: "1" })).toThrow(UnsupportedDownlink);
    expect(encode({ kind: "clock" })).toEqual([]);
  });

  it("have one answer, which names no command", () => {
    expect(teltonika.answerTo?.(textFrame("getrecord"))).toEqual({ word: "TEXT" });
  });
});

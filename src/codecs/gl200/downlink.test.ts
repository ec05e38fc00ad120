import { expect, it } from "vitest";
import { loggedIn } from "../../../test/support/codec-harness.ts";
import { gl200Case } from "../../../test/support/gl200-corpus.ts";
import { UnsupportedDownlink } from "../protocol-definition.ts";
import { encodeDownlink, serialOf } from "./downlink.ts";
import { gl200 } from "./protocol.ts";

const session = loggedIn(gl200Case.world);
const frames = (type: string) =>
  gl200.encode({ kind: "command", type, params: {}, serial: "0012" }, session).map(String);

it.each([
  ["locate_now", "AT+GTRTO=gl300,1,,,,,,0012$"],
  ["restart", "AT+GTRTO=gl300,3,,,,,,0012$"],
  ["factory_reset", "AT+GTRTO=gl300,4,,,,,,0012$"],
  ["power_off", "AT+GTRTO=gl300,5,,,,,,0012$"],
])("the gl200 codec writes %s with password and serial", (type, frame) => expect(frames(type)).toEqual([frame]));

it("the gl200 codec knows nothing else, texts and voice included", () => {
  expect(() => frames("set_timezone")).toThrow(UnsupportedDownlink);
  expect(() => frames("toString")).toThrow(UnsupportedDownlink);
  expect(() => encodeDownlink({ kind: "text", text: "hi", senderName: "", serial: "0012" }, session)).toThrow(
    UnsupportedDownlink,
  );
  expect(encodeDownlink({ kind: "clock" }, session)).toEqual([]);
});

it("the gl200 codec numbers commands with four hexadecimal digits, and never with FFFF", () => {
  expect([0, 17, 0xfffd, 0xfffe, 1e9].map(serialOf)).toEqual(["0001", "0012", "FFFE", "0001", serialOf(1e9)]);
  expect(serialOf(1e9)).toMatch(/^[\dA-F]{4}$/);
});

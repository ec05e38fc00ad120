import { describe, expect, it } from "vitest";
import { chooseTerminalId, defaultTerminalId, terminalKey } from "./terminal-id.ts";

const uid = "490154203237518";

it.each([
  ["watch", "5420323751"],
  ["h02", "5420323751"],
  ["jt808", "154203237518"],
  ["iw", null],
  ["gt06", null],
])("the default of %s is %s", (protocol, expected) => {
  expect(defaultTerminalId(uid, protocol)).toBe(expected);
});

it("compares jt808 numbers without leading zeros", () => {
  expect(terminalKey("jt808", "000123")).toBe("123");
  expect(terminalKey("jt808", "000")).toBe("0");
  expect(terminalKey("watch", "000123")).toBe("000123");
});

describe("a write", () => {
  const watch = { protocol_slug: "watch", terminal_id: "5420323751" };
  const custom = { protocol_slug: "watch", terminal_id: "A1" };
  const none = { protocol_slug: "watch", terminal_id: null };

  it.each([
    ["a new device gets the default", undefined, "watch", undefined, false, "5420323751"],
    ["a new device gets what is sent", undefined, "watch", "A1", false, "A1"],
    ["a new device can do without", undefined, "watch", null, false, null],
    ["a partial update keeps it", custom, "watch", undefined, false, "A1"],
    ["a full update returns to the default", custom, "watch", undefined, true, "5420323751"],
    ["null takes it away", watch, "watch", null, false, null],
    ["what was taken away stays away", none, "watch", undefined, false, null],
    ["the protocol changes: a default is made anew", watch, "jt808", undefined, false, "154203237518"],
    ["also when the old one is sent back", watch, "jt808", "5420323751", true, "154203237518"],
    ["also to none", watch, "iw", undefined, false, null],
    ["also where there was none", none, "jt808", null, true, "154203237518"],
    ["an own value stays", custom, "jt808", undefined, false, "A1"],
  ] as const)("%s", (_, before, protocol, sent, isFull, id) => {
    expect(chooseTerminalId(uid, before, protocol, sent, isFull)).toBe(id);
  });
});

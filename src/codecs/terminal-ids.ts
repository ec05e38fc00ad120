import type { TerminalIdRule } from "./protocol-definition.ts";

/** For protocols whose devices send their IMEI. */
export const imeiOnly: TerminalIdRule = { defaultFor: () => null, compareKey: (terminalId) => terminalId };

/** Ten digits from the middle of the IMEI, without the check digit. */
export const imeiDigits5To14: TerminalIdRule = {
  defaultFor: (imei) => imei.slice(4, 14),
  compareKey: (terminalId) => terminalId,
};

/** Twelve digits; padded with zeros on the wire, so those in front do not count. */
export const last12Digits: TerminalIdRule = {
  defaultFor: (imei) => imei.slice(-12),
  compareKey: (terminalId) => terminalId.replace(/^0+(?=.)/, ""),
};

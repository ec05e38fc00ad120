import type { TerminalIdRule } from "./protocol-definition.ts";

/** For protocols whose devices send their IMEI. */
export const imeiOnly: TerminalIdRule = { defaultFor: () => null, compareKey: (terminalId) => terminalId };

/** Ten digits from the middle of the IMEI: type code and serial number without the check digit. */
export const imeiDigits5To14: TerminalIdRule = {
  defaultFor: (imei) => imei.slice(4, 14),
  compareKey: (terminalId) => terminalId,
};

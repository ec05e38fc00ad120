import { it } from "vitest";
import { runSimulated } from "../support/simulated-protocol.ts";

it("simulated trackers log in, report, raise alarms and obey", { timeout: 180_000 }, () =>
  runSimulated("teltonika", { alarms: { sos: 10, fall: 20 }, commands: [["locate_now"], ["restart"], ["locate_now"]] }),
);

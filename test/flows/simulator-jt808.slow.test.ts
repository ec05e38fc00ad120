import { it } from "vitest";
import { runSimulated } from "../support/simulated-protocol.ts";

it("simulated terminals register, report, raise alarms and obey", { timeout: 180_000 }, () =>
  runSimulated("jt808", {
    // There is no alarm for a fall: it comes as a collision.
    alarms: { sos: 10, fall: 220 },
    commands: [
      ["locate_now"],
      ["set_report_interval", { interval_seconds: 30 }],
      ["set_working_mode", { mode: "emergency" }],
      ["send_message", { text: "È ora di pranzo" }],
      ["restart"],
      ["power_off"],
      ["factory_reset"],
    ],
  }),
);

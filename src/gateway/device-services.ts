import type { BatchStep } from "../ingest/batch-step.ts";
import { inboundMessages } from "../ingest/inbound-messages.ts";
import { messageAnswers } from "../ingest/message-answers.ts";
import type { MakeDownlinkLane } from "./downlink.ts";
import { MessageLane } from "./message-lane.ts";

/** What the service does with devices beside keeping their packets, in one place for the service and for the tests. */
export interface DeviceServices {
  steps: readonly BatchStep[];
  downlinks: readonly MakeDownlinkLane[];
}

export interface DeviceServicesOptions {
  commandAckTimeoutSeconds: number;
  commandTtlSeconds: number;
}

export function deviceServices(_options: DeviceServicesOptions): DeviceServices {
  return {
    steps: [messageAnswers, inboundMessages],
    downlinks: [(host) => new MessageLane(host)],
  };
}

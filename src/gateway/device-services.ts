import type { BatchStep } from "../ingest/batch-step.ts";
import { commandAnswers } from "../ingest/command-answers.ts";
import { storeEcgParts } from "../ingest/ecg-parts.ts";
import { makeCommandLane } from "./command-lane.ts";
import type { MakeDownlinkLane } from "./downlink.ts";

/** What the service does with devices beside keeping their packets, in one place for the service and for the tests. */
export interface DeviceServices {
  steps: readonly BatchStep[];
  downlinks: readonly MakeDownlinkLane[];
}

export interface DeviceServicesOptions {
  commandAckTimeoutSeconds: number;
  commandTtlSeconds: number;
}

export function deviceServices({ commandAckTimeoutSeconds }: DeviceServicesOptions): DeviceServices {
  return {
    steps: [commandAnswers, storeEcgParts],
    downlinks: [makeCommandLane({ ackTimeoutSeconds: commandAckTimeoutSeconds })],
  };
}

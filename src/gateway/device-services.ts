import { type BatchStep, forUncommonMessages } from "../ingest/batch-step.ts";
import { commandAnswers } from "../ingest/command-answers.ts";
import { deviceCodes } from "../ingest/device-codes.ts";
import { storeEcgParts } from "../ingest/ecg-parts.ts";
import { inboundMessages } from "../ingest/inbound-messages.ts";
import { makeMediaGate } from "../ingest/media-gate.ts";
import { messageAnswers } from "../ingest/message-answers.ts";
import { simChanges } from "../ingest/sim-changes.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { makeCommandLane } from "./command-lane.ts";
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
  deviceMediaMbPerDay: number;
  catalog: Catalog;
}

export function deviceServices(options: DeviceServicesOptions): DeviceServices {
  const { commandAckTimeoutSeconds, deviceMediaMbPerDay, catalog } = options;
  const gate = makeMediaGate({
    maxBytesPerDay: deviceMediaMbPerDay * 1024 * 1024,
    hasEcg: (modelSlug) => catalog.findModel(modelSlug)?.has_ecg === true,
  });
  return {
    // Messages first: an answer without a serial belongs to the command that waits for it, if one does. The gate comes before
    // the steps that store recordings.
    steps: [
      forUncommonMessages([
        deviceCodes,
        messageAnswers,
        commandAnswers,
        gate,
        inboundMessages,
        storeEcgParts,
        simChanges,
      ]),
    ],
    downlinks: [makeCommandLane({ ackTimeoutSeconds: commandAckTimeoutSeconds }), (host) => new MessageLane(host)],
  };
}

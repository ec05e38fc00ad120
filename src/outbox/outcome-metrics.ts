import type { Metrics } from "../lib/metrics.ts";
import type { OutboundEntry } from "./outbound-entry.ts";

/** Counts how commands, messages and recordings ended. Called after the commit, and never with their content. */
export interface OutcomeMetrics {
  /** The outbound events, whether or not an integration receives them. */
  countOutcomes(entries: readonly OutboundEntry[]): void;
  /** An ECG recording is over. */
  countRecording(status: unknown): void;
}

/** From seconds to the day that a command waits for its device by default. */
const waitBounds = [1, 3, 10, 30, 60, 120, 300, 1800, 7200, 21_600, 86_400];

export function makeOutcomeMetrics(metrics: Metrics): OutcomeMetrics {
  const commands = metrics.counter("vigil_commands_total", "Commands that reached a final status.");
  const waits = metrics.histogram(
    "vigil_command_seconds",
    "Time from the creation of a command to its final status.",
    waitBounds,
  );
  const messages = metrics.counter(
    "vigil_messages_total",
    "Messages that reached a final status, and messages from devices.",
  );
  const recordings = metrics.counter("vigil_ecg_recordings_total", "ECG recordings that ended.");

  const countCommand = ({ data, occurredAtMs }: OutboundEntry): void => {
    const { status, error, created_at } = data as {
      status: string;
      error: { code: string } | null;
      created_at: string;
    };
    commands.add({ status, code: error?.code ?? "none" });
    waits.observe({ status }, Math.max(0, occurredAtMs - Date.parse(created_at)) / 1000);
  };
  const countMessage = ({ data }: OutboundEntry, outcome: string): void => {
    const { direction, message_type: kind, failure_reason } = data as Record<string, string | null>;
    messages.add({ direction: direction ?? "", kind: kind ?? "", outcome, reason: failure_reason ?? "none" });
  };

  return {
    countOutcomes: (entries) => {
      for (const entry of entries) {
        switch (entry.type) {
          case "command.ack":
          case "command.failed":
            countCommand(entry);
            break;
          case "message.received":
            countMessage(entry, "received");
            break;
          case "message.delivered":
            countMessage(entry, "delivered");
            break;
          case "message.failed":
            countMessage(entry, "failed");
            break;
        }
      }
    },
    countRecording: (status) => recordings.add({ status: String(status) }),
  };
}

/** For those who are not asked to count. */
export const noOutcomes: OutcomeMetrics = { countOutcomes: () => undefined, countRecording: () => undefined };

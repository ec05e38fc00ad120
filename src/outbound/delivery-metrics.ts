import type { Labels, Metrics } from "../lib/metrics.ts";
import type { Next } from "./delivery-policy.ts";

export interface DeliveryMetrics {
  attempt(next: Next["kind"], durationMs: number): void;
}

export interface DeliveryGauges {
  inFlight: () => number;
  lanes: () => number;
  /** Age in seconds of the oldest row that is not delivered, per integration that has one. */
  lags: () => Iterable<readonly [Labels, number]>;
}

const outcomes = { delivered: "delivered", retry: "retried", dead_letter: "parked" } as const;

export function makeDeliveryMetrics(metrics: Metrics, gauges: DeliveryGauges): DeliveryMetrics {
  const attempts = metrics.counter("vigil_webhook_attempts_total", "Attempts to deliver a webhook, by outcome.");
  const count = {
    delivered: attempts.at({ outcome: outcomes.delivered }),
    retry: attempts.at({ outcome: outcomes.retry }),
    dead_letter: attempts.at({ outcome: outcomes.dead_letter }),
  };
  const bounds = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const seconds = metrics.histogram("vigil_webhook_attempt_seconds", "Duration of an attempt.", bounds).at({});
  metrics.gauge("vigil_webhook_in_flight", "Attempts in flight.", gauges.inFlight);
  metrics.gauge("vigil_webhook_lanes", "Integrations that this process is serving.", gauges.lanes);
  metrics.gauge("vigil_webhook_lag_seconds", "Age of the oldest undelivered row.", gauges.lags);
  return {
    attempt: (next, durationMs) => {
      count[next]();
      seconds(durationMs / 1000);
    },
  };
}

import type { Metrics } from "../lib/metrics.ts";

/** Why a datagram was not taken. Its sender gets no answer and sends it again. */
export type DropReason =
  | "too_large"
  | "unrecognized"
  | "no_login"
  | "peer_limit"
  | "waiting_limit"
  | "gateway_full"
  | "codec_error";

export interface UdpMetrics {
  received(): void;
  dropped(reason: DropReason): void;
}

export function makeUdpMetrics(metrics: Metrics, peers: () => number): UdpMetrics {
  const received = metrics.counter("vigil_gateway_datagrams_total", "Datagrams received.").at({});
  const dropped = metrics.counter("vigil_gateway_datagrams_dropped_total", "Datagrams dropped, by reason.");
  metrics.gauge("vigil_gateway_udp_peers", "Devices reachable over UDP.", peers);
  return {
    received: () => received(1),
    dropped: (reason) => dropped.add({ reason }),
  };
}

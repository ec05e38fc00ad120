import type { Metrics } from "../lib/metrics.ts";

/** Why a connection was closed by us. */
export type CloseReason =
  | "address_limit"
  | "connection_limit"
  | "unrecognized"
  | "no_login"
  | "login_timeout"
  | "unknown_device"
  | "unavailable"
  | "garbage"
  | "malformed"
  | "another_device"
  | "overtaken"
  | "idle"
  | "slow_reader"
  | "codec_error"
  | "shutdown"
  | "peer";

export interface GatewayMetrics {
  opened(): void;
  closed(reason: CloseReason): void;
  frames(protocol: string, count: number): void;
  problems(protocol: string, count: number): void;
  refusedLogin(protocol: string): void;
}

export function makeGatewayMetrics(
  metrics: Metrics,
  protocols: readonly string[],
  gauges: { connections: () => number; devices: () => number; paused: () => number },
): GatewayMetrics {
  const opened = metrics.counter("vigil_gateway_connections_opened_total", "Connections accepted.");
  const closed = metrics.counter("vigil_gateway_connections_closed_total", "Connections closed, by reason.");
  const frames = metrics.counter("vigil_gateway_frames_total", "Frames read from devices.");
  const problems = metrics.counter("vigil_gateway_problems_total", "Malformed frames and stray bytes.");
  const refused = metrics.counter(
    "vigil_gateway_refused_logins_total",
    "Logins of devices that nobody has registered.",
  );
  metrics.gauge("vigil_gateway_connections", "Open connections.", gauges.connections);
  metrics.gauge("vigil_gateway_devices", "Devices that are connected.", gauges.devices);
  metrics.gauge("vigil_gateway_paused", "1 while no connection is read because too much waits.", gauges.paused);
  const framesOf = new Map(protocols.map((protocol) => [protocol, frames.at({ protocol })]));
  return {
    opened: () => opened.add({}),
    closed: (reason) => closed.add({ reason }),
    frames: (protocol, count) => framesOf.get(protocol)?.(count),
    problems: (protocol, count) => problems.add({ protocol }, count),
    refusedLogin: (protocol) => refused.add({ protocol }),
  };
}

import type { Metrics } from "../lib/metrics.ts";

/** Why a connection was closed by us. */
export type CloseReason =
  | "address_limit"
  | "connection_limit"
  | "unlogged_limit"
  | "network"
  | "proxy_header"
  | "sim_refused"
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

/** Why a login was refused. */
export type RefusedLogin = "unknown_device" | "network" | "sim" | "code";

export interface GatewayMetrics {
  opened(): void;
  closed(reason: CloseReason): void;
  frames(protocol: string, count: number): void;
  problems(protocol: string, count: number): void;
  refusedLogin(protocol: string, reason: RefusedLogin): void;
  takenOver(): void;
}

export function makeGatewayMetrics(
  metrics: Metrics,
  protocols: readonly string[],
  gauges: Record<
    "connections" | "devices" | "paused" | "unlogged" | "slowedNetworks" | "waitingLogins" | "undecodedBytes",
    () => number
  >,
): GatewayMetrics {
  const opened = metrics.counter("vigil_gateway_connections_opened_total", "Connections accepted.");
  const closed = metrics.counter("vigil_gateway_connections_closed_total", "Connections closed, by reason.");
  const frames = metrics.counter("vigil_gateway_frames_total", "Frames read from devices.");
  const problems = metrics.counter("vigil_gateway_problems_total", "Malformed frames and stray bytes.");
  const refused = metrics.counter(
    "vigil_gateway_refused_logins_total",
    "Logins that were refused: unknown devices, networks that an organization does not allow, another SIM, a wrong code.",
  );
  const takenOver = metrics.counter(
    "vigil_gateway_takeovers_total",
    "Open connections of devices that were taken over from another network.",
  );
  metrics.gauge("vigil_gateway_connections", "Open connections.", gauges.connections);
  metrics.gauge("vigil_gateway_devices", "Devices that are connected.", gauges.devices);
  metrics.gauge(
    "vigil_gateway_paused",
    "1 while reading is paused because too many packets are queued.",
    gauges.paused,
  );
  metrics.gauge("vigil_gateway_unlogged_connections", "Connections without an accepted login.", gauges.unlogged);
  metrics.gauge(
    "vigil_gateway_slowed_networks",
    "Networks whose logins are answered slowly because too many were refused.",
    gauges.slowedNetworks,
  );
  metrics.gauge("vigil_gateway_waiting_logins", "Logins of such networks that wait.", gauges.waitingLogins);
  metrics.gauge(
    "vigil_gateway_undecoded_bytes",
    "Bytes that were read from devices and are not decoded yet because too many packets are queued.",
    gauges.undecodedBytes,
  );
  const framesOf = new Map(protocols.map((protocol) => [protocol, frames.at({ protocol })]));
  return {
    opened: () => opened.add({}),
    closed: (reason) => closed.add({ reason }),
    frames: (protocol, count) => framesOf.get(protocol)?.(count),
    problems: (protocol, count) => problems.add({ protocol }, count),
    refusedLogin: (protocol, reason) => refused.add({ protocol, reason }),
    takenOver: () => takenOver.add({}),
  };
}

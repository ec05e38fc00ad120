import type { Config, Role } from "../config.ts";
import type { GatewayLimits } from "../gateway/gateway-limits.ts";

/** One process of a service that runs in several. */
export interface PlannedProcess {
  /** As logs name it. */
  name: string;
  roles: readonly Role[];
  /** A device's datagrams must all reach one process, and a port that is shared gives each to any: one process has the port. */
  takesDatagrams: boolean;
}

/**
 * Which process does what. Devices are the most work and must not wait for calls, so gateways stand alone and get the larger half;
 * background work needs one process in eight.
 */
export function planProcesses(count: number, roles: readonly Role[]): PlannedProcess[] {
  const others = roles.filter((role) => role !== "gateway");
  if (count === 1) return named([roles]);
  if (count < roles.length) return named([["gateway"], others]);
  const workers = roles.includes("worker") ? shareOfWorkers(count, roles.length) : 0;
  const rest = count - workers;
  const apis = roles.includes("api") ? (roles.includes("gateway") ? Math.max(1, Math.floor(rest / 2)) : rest) : 0;
  const gateways = roles.includes("gateway") ? rest - apis : 0;
  return named([...times(gateways, "gateway"), ...times(apis, "api"), ...times(workers, "worker")]);
}

const shareOfWorkers = (count: number, roleCount: number): number =>
  roleCount === 1 ? count : Math.max(1, Math.floor(count / 8));

const times = (count: number, role: Role): (readonly Role[])[] => Array.from({ length: count }, () => [role]);

function named(processes: readonly (readonly Role[])[]): PlannedProcess[] {
  const counts = new Map<string, number>();
  let isUdpGiven = false;
  return processes.map((roles) => {
    const kind = roles.join("-");
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    const takesDatagrams = roles.includes("gateway") && !isUdpGiven;
    isUdpGiven ||= takesDatagrams;
    return { name: `${kind}-${number}`, roles, takesDatagrams };
  });
}

export const gatewaysIn = (plan: readonly PlannedProcess[]): number =>
  plan.filter(({ roles }) => roles.includes("gateway")).length;

/** The settings of one process of the plan. */
export const configOf = (config: Config, { roles, takesDatagrams }: PlannedProcess): Config => ({
  ...config,
  processes: 1,
  roles,
  gatewayUdp: config.gatewayUdp && takesDatagrams,
});

type DividedLimit =
  | "connections"
  | "connectionsPerAddress"
  | "newPerAddressPerMinute"
  | "unloggedPerAddress"
  | "unlogged"
  | "refusedLoginsPerMinute"
  | "slowedAnswersPerSecond";

/**
 * The part of one gateway in limits that hold for all gateways behind a port. Connections are dealt out in turn, so that equal
 * parts together are the whole.
 */
export function dividedLimits(
  limits: Pick<GatewayLimits, DividedLimit>,
  gateways: number,
): Pick<GatewayLimits, DividedLimit> {
  const part = (limit: number): number => Math.max(1, Math.ceil(limit / gateways));
  return {
    connections: part(limits.connections),
    connectionsPerAddress: part(limits.connectionsPerAddress),
    newPerAddressPerMinute: part(limits.newPerAddressPerMinute),
    unloggedPerAddress: part(limits.unloggedPerAddress),
    unlogged: part(limits.unlogged),
    refusedLoginsPerMinute: Math.max(1, Math.floor(limits.refusedLoginsPerMinute / gateways)),
    slowedAnswersPerSecond: limits.slowedAnswersPerSecond / gateways,
  };
}

/**
 * One service in several processes: the supervisor owns the embedded database, the ports, health and metrics; its children do
 * the work. The children share nothing but the database, as processes on several machines do.
 */
import { createSocket } from "node:dgram";
import { type AddressInfo, createServer, isIPv6 } from "node:net";
import type { Config } from "../config.ts";
import { Lifecycle } from "../lib/lifecycle.ts";
import type { Logger } from "../lib/logger.ts";
import { Metrics } from "../lib/metrics.ts";
import type { ChildAddresses } from "./child-messages.ts";
import { countsOf, type Families, mergeMetrics, parseMetrics, renderMetrics } from "./merged-metrics.ts";
import { startOpsServer } from "./ops-server.ts";
import { openOwnDatabase } from "./own-database.ts";
import { observeProcess } from "./process-gauges.ts";
import { configOf, gatewaysIn, planProcesses } from "./process-plan.ts";
import { prepareChildren, SupervisedChild } from "./supervised-child.ts";

export interface SupervisedService extends ChildAddresses {
  ops: string;
  /** Hands a signal on to every child. */
  signal(name: NodeJS.Signals): void;
  /** False: a process did not drain in time. */
  close(): Promise<boolean>;
}

export async function startSupervisor(
  config: Config,
  log: Logger,
  onLog: (lines: Buffer) => void,
): Promise<SupervisedService> {
  const lifecycle = new Lifecycle(log);
  const children: SupervisedChild[] = [];
  const closeChildren = async (): Promise<boolean> => {
    const ended = await Promise.all(children.map((child) => child.close()));
    return ended.every((isClean) => isClean);
  };
  try {
    const metrics = new Metrics();
    observeProcess(metrics);
    const counts = new ChildCounts(children, metrics);
    const connection = config.databaseUrl === undefined ? await openOwnDatabase(config, log, lifecycle) : undefined;
    let isClosing = false;
    const notReady = async (): Promise<string | undefined> => (isClosing ? "shutting down" : findUnready(children));
    const ops = await startOpsServer({ port: config.opsPort, render: () => counts.render(), notReady });
    lifecycle.add("ops server", () => ops.close());
    const fixed = await withFixedPorts(config);
    const plan = planProcesses(config.processes, config.roles);
    const gateways = gatewaysIn(plan);
    prepareChildren();
    for (const planned of plan) {
      const start = { name: planned.name, config: configOf(fixed, planned), connection, gateways };
      children.push(new SupervisedChild({ start, log, onLog, onLost: () => counts.lose(planned.name) }));
    }
    const ready = await Promise.all(children.map((child) => child.ready));
    const addressOf = (kind: "http" | "gateway" | "udp"): string =>
      ready.map((one) => one[kind]).find((address) => address !== "off") ?? "off";
    return {
      http: addressOf("http"),
      gateway: addressOf("gateway"),
      udp: addressOf("udp"),
      ops: ops.address,
      isEmpty: ready.some(({ isEmpty }) => isEmpty),
      signal: (name) => {
        for (const child of children) child.signal(name);
      },
      close: async () => {
        isClosing = true;
        const isClean = await closeChildren();
        await lifecycle.close();
        return isClean;
      },
    };
  } catch (error) {
    await closeChildren();
    await lifecycle.close();
    throw error;
  }
}

async function findUnready(children: readonly SupervisedChild[]): Promise<string | undefined> {
  const reasons = await Promise.all(
    children.map(async (child) => {
      if (child.state !== "ready") return `${child.name} is being started`;
      const reason = (await child.ask("readiness")) ?? "it does not answer";
      return reason === "" ? undefined : `${child.name}: ${reason}`;
    }),
  );
  return reasons.find((reason) => reason !== undefined);
}

/** The metrics of all children as those of one service. The counts of one that has ended stay in the sums. */
class ChildCounts {
  readonly #children: readonly SupervisedChild[];
  readonly #metrics: Metrics;
  readonly #latest = new Map<string, Families>();
  #ended: Families = new Map();
  readonly #restarts: () => void;

  constructor(children: readonly SupervisedChild[], metrics: Metrics) {
    this.#children = children;
    this.#metrics = metrics;
    this.#restarts = metrics
      .counter("vigil_process_restarts_total", "Processes that ended and were started again.")
      .at({});
    metrics.gauge("vigil_processes", "Processes of this service, by state.", () => {
      const ready = children.filter(({ state }) => state === "ready").length;
      return [
        [{ state: "ready" }, ready],
        [{ state: "starting" }, children.length - ready],
      ];
    });
  }

  /** What it counted since the last look is lost. */
  lose(name: string): void {
    this.#restarts();
    const latest = this.#latest.get(name);
    if (latest) this.#ended = mergeMetrics([this.#ended, countsOf(latest)]);
    this.#latest.delete(name);
  }

  async render(): Promise<string> {
    await Promise.all(
      this.#children.map(async (child) => {
        const text = await child.ask("metrics");
        if (text !== undefined && child.state === "ready") this.#latest.set(child.name, parseMetrics(text));
      }),
    );
    return renderMetrics(mergeMetrics([parseMetrics(this.#metrics.render()), this.#ended, ...this.#latest.values()]));
  }
}

/** Children that share a port must know its number, so that 0 is settled before they start. */
async function withFixedPorts(config: Config): Promise<Config> {
  const { gatewayHost, gatewayUdp } = config;
  const gatewayPorts = [];
  for (const one of config.gatewayPorts) {
    gatewayPorts.push({ ...one, port: one.port || (await findFreePort(gatewayHost, gatewayUdp)) });
  }
  return {
    ...config,
    gatewayPorts,
    port: config.port || (await findFreePort(config.host, false)),
    gatewayPort: config.gatewayPort || (await findFreePort(gatewayHost, gatewayUdp)),
  };
}

async function findFreePort(host: string, isUdp: boolean): Promise<number> {
  for (;;) {
    const port = await new Promise<number>((resolve, reject) => {
      const server = createServer().once("error", reject);
      server.listen({ host, port: 0, exclusive: true }, () => {
        const { port } = server.address() as AddressInfo;
        server.close(() => resolve(port));
      });
    });
    if (!isUdp || (await isFreeForDatagrams(host, port))) return port;
  }
}

const isFreeForDatagrams = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
    const end = (isFree: boolean): unknown => socket.close(() => resolve(isFree));
    socket.once("error", () => end(false));
    socket.bind({ address, port, exclusive: true }, () => end(true));
  });

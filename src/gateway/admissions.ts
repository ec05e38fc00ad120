import type { Login, TrackerMessage } from "../codecs/tracker-message.ts";
import type { Database } from "../db/database.ts";
import type { NodeWatch } from "../db/node-watch.ts";
import { openHold } from "../ingest/device-hold.ts";
import type { IngestDevice } from "../ingest/device-memory.ts";
import type { RuleBook } from "../ingest/rules/rule-book.ts";
import { simIn } from "../ingest/sim-changes.ts";
import type { Clock } from "../lib/clock.ts";
import { PackedIds } from "../lib/ids.ts";
import { NetworkList } from "../lib/network-list.ts";
import { ZoneOffsets } from "../lib/zone-offset.ts";
import type { Catalog } from "../resources/catalog/catalog.ts";
import { isOtherSim, pinnedSimOf } from "../resources/devices/device-sim.ts";
import { findWireDevice, type WireDevice } from "../resources/devices/wire-device.ts";
import type { Admission } from "./admission.ts";
import { type Authentication, authenticate } from "./authentication.ts";
import { noSerials } from "./connection-session.ts";
import type { GatewayLimits } from "./gateway-limits.ts";
import type { GatewayMetrics, RefusedLogin } from "./gateway-metrics.ts";
import type { DeviceBudgets } from "./inflow.ts";
import { LoginThrottle, type WaitingLogin } from "./login-throttle.ts";
import { PacketRates } from "./packet-rate.ts";
import type { SessionConflicts } from "./session-conflicts.ts";
import type { SessionRegistry } from "./session-registry.ts";
import { Sweep } from "./sweep.ts";
import type { TenantBudgets } from "./tenant-budgets.ts";
import type { UnknownDevices } from "./unknown-devices.ts";

/** Who wants to speak for a device, over any transport. */
export interface LoginAttempt {
  protocol: string;
  login: Login;
  remoteAddr: string;
  network: string;
  /** The address may be forged: it is slowed apart from those that have proved it, and waits only where it is known. */
  isDatagram: boolean;
  /** What the login frame says beside the id. */
  messages: readonly TrackerMessage[];
  /** False once the peer has disconnected: nobody else would end its session. */
  isAlive(): boolean;
  /** The login waits for its turn, and may be withdrawn. Undefined: it waits no more. */
  onWaiting(withdraw: (() => void) | undefined): void;
}

export interface AdmissionsOptions {
  db: Database;
  nodes?: NodeWatch | undefined;
  clock: Clock;
  catalog: Catalog;
  rules: RuleBook;
  limits: GatewayLimits;
  tenants: TenantBudgets;
  sessions: SessionRegistry;
  conflicts: SessionConflicts;
  unknown: UnknownDevices;
  metrics: GatewayMetrics;
  /** The gateway is open to known networks only: guessing is not slowed. */
  isClosedNetwork: boolean;
}

/** Settles who a device is and whether it may speak. One for all transports, so that a guesser does not win by changing them. */
export class Admissions {
  readonly throttle: LoginThrottle;
  readonly #options: AdmissionsOptions;
  readonly #zones = new ZoneOffsets();
  readonly #rates: PacketRates;
  readonly #ids = new PackedIds();

  constructor(options: AdmissionsOptions) {
    this.#options = options;
    this.throttle = new LoginThrottle(options.limits, (key, forMs) => {
      options.unknown.throttled(key.startsWith(datagramPrefix) ? key.slice(datagramPrefix.length) : key, forMs);
    });
    this.#rates = new PacketRates(options.limits);
  }

  /** Undefined: refused, or nobody is there any more. Throws when the database is away. */
  async admit(attempt: LoginAttempt): Promise<Admission | undefined> {
    try {
      return await this.#admit(attempt);
    } catch (error) {
      void this.#options.nodes?.noteFailure(error);
      throw error;
    }
  }

  async #admit(attempt: LoginAttempt): Promise<Admission | undefined> {
    const { db } = this.#options;
    const { protocol, login } = attempt;
    let found = await findWireDevice(db.point, protocol, login.id);
    if (this.throttle.isSlowed(throttleKey(attempt))) {
      if (!(await this.#waitForTurn(attempt, found))) return undefined;
      found = await findWireDevice(db.point, protocol, login.id);
    }
    if (!found) return this.#refuse(attempt, undefined, "unknown_device");
    const refusal = refusalOf(found, attempt);
    if (refusal) return this.#refuse(attempt, found, refusal);
    const authentication = await authenticate(db.point, found.organization_id, found.id, login.proof);
    if (authentication === "refused") return this.#refuse(attempt, found, "code");
    return this.#open(found, attempt, authentication);
  }

  async #waitForTurn(attempt: LoginAttempt, found: WireDevice | undefined): Promise<boolean> {
    const { network, protocol, login } = attempt;
    if (!attempt.isAlive()) return false;
    const wasSeenHere = found?.last_network === network;
    // Datagrams come again by themselves, and waiting ones would take the place of others.
    if (attempt.isDatagram && !wasSeenHere) return this.throttle.takeFreeTurn(throttleKey(attempt));
    const waiting: WaitingLogin = { network: throttleKey(attempt), key: `${protocol} ${login.id}`, wasSeenHere };
    const turn = this.throttle.waitForTurn(waiting);
    attempt.onWaiting(() => this.throttle.leave(waiting));
    const outcome = await turn;
    attempt.onWaiting(undefined);
    return outcome === "turn" && attempt.isAlive();
  }

  #refuse(attempt: LoginAttempt, found: WireDevice | undefined, reason: RefusedLogin): undefined {
    const { unknown, conflicts, isClosedNetwork } = this.#options;
    this.#options.metrics.refusedLogin(attempt.protocol, reason);
    if (!isClosedNetwork) this.throttle.refused(throttleKey(attempt));
    if (reason === "unknown_device") unknown.add(attempt.login.id, attempt.protocol, attempt.remoteAddr);
    if (reason === "sim" && found) conflicts.simRefused(deviceOf(found), simIn(attempt.messages)?.iccid ?? null);
    return undefined;
  }

  async #open(found: WireDevice, attempt: LoginAttempt, authentication: Authentication): Promise<Admission> {
    const { db, clock, catalog, rules, sessions, conflicts } = this.#options;
    const { id, organization_id: organizationId, uid } = found;
    await this.#requireNode(id);
    // The first device of an organization waits for its rules, instead of the packets of all others.
    const organization = await rules.atLeast(organizationId, 0);
    // The strings that devices have in common are kept once.
    const device = { ...deviceOf(found), organizationId: organization.organizationId };
    const { protocol, remoteAddr, network } = attempt;
    const transport = attempt.isDatagram ? "udp" : "tcp";
    const session = await sessions.claim({ deviceId: id, organizationId, protocol, remoteAddr, network, transport });
    const nowMs = clock.nowMs();
    const ids = { device: this.#ids.bytesOf(id), organization: organization.organizationIdBytes };
    const hold = await openHold(db.point, device, session.epoch, session, nowMs, ids);
    if (session.previous_remote_addr !== null) conflicts.takenOver(device, session, remoteAddr);
    if (!attempt.isAlive()) sessions.end(id, session.epoch);
    const model = catalog.findModel(found.device_model_slug);
    return {
      device: {
        imei: uid,
        id: attempt.login.id === uid ? uid : attempt.login.id,
        utcOffsetMinutes: this.#zones.minutesAt(found.timezone, nowMs),
        traits: model ? catalog.traitsOf(model.slug) : noTraits,
        locale: found.default_locale.slice(0, 2),
        outstandingSerials: noSerials,
        ...(authentication ? { authentication } : {}),
      },
      hold,
      modelSlug: model?.slug ?? found.device_model_slug,
      budgets: this.budgetsOf(id, organizationId),
      ...(found.has_pinned_sim
        ? { refusesSim: (messages: readonly TrackerMessage[]) => this.#refusesSim(found, protocol, messages) }
        : {}),
    };
  }

  /** What is known of a device is read at its login: while its node hangs, that would hold up the logins of others. */
  async #requireNode(deviceId: string): Promise<void> {
    const { nodes } = this.#options;
    if (!nodes || nodes.isWhole) return;
    if ((await nodes.findAway([deviceId])).size > 0) throw new Error("the node of the device does not answer");
  }

  /** Of a device, however many connections it has had. */
  budgetsOf(deviceId: string, organizationId: string): DeviceBudgets {
    return { rate: this.#rates.of(deviceId, performance.now()), tenant: this.#options.tenants.of(organizationId) };
  }

  /** Some protocols tell the SIM only after the login. */
  #refusesSim(found: WireDevice, protocol: string, messages: readonly TrackerMessage[]): boolean {
    const sim = simIn(messages);
    if (!sim || !isOtherSim(pinnedSimOf(found), sim)) return false;
    this.#options.metrics.refusedLogin(protocol, "sim");
    this.#options.conflicts.simRefused(deviceOf(found), sim.iccid);
    return true;
  }

  startPruning(isConnected: (deviceId: string) => boolean): { stop(): void } {
    const timer = setInterval(() => this.throttle.prune(), pruneEveryMs);
    const sweep = new Sweep(
      () => this.#rates.devices(),
      pruneEveryMs,
      (deviceId, nowMs) => {
        if (!isConnected(deviceId)) this.#rates.forgetFull(deviceId, nowMs);
      },
    );
    return {
      stop: () => {
        clearInterval(timer);
        sweep.stop();
      },
    };
  }
}

const datagramPrefix = "udp ";
const throttleKey = ({ network, isDatagram }: LoginAttempt): string => (isDatagram ? datagramPrefix : "") + network;

const noTraits = {};
const pruneEveryMs = 60_000;

const deviceOf = ({ id, organization_id: organizationId, uid, name }: WireDevice): IngestDevice => ({
  id,
  organizationId,
  uid,
  name,
});

function refusalOf(found: WireDevice, attempt: LoginAttempt): RefusedLogin | undefined {
  const { gateway_networks: networks } = found;
  if (networks.length > 0 && !new NetworkList(networks).includes(attempt.remoteAddr)) return "network";
  const sim = simIn(attempt.messages);
  return found.has_pinned_sim && sim && isOtherSim(pinnedSimOf(found), sim) ? "sim" : undefined;
}

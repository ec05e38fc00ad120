import { UnsupportedDownlink } from "../codecs/protocol-definition.ts";
import type { TrackerMessage } from "../codecs/tracker-message.ts";
import { repeat } from "../lib/lifecycle.ts";
import { makeOutcomeMetrics, type OutcomeMetrics } from "../outbox/outcome-metrics.ts";
import type { CommandCapability } from "../resources/catalog/capability.ts";
import {
  claimCommand,
  claimSecondWrite,
  findHead,
  findOverdue,
  findOverlooked,
  findWaiting,
  markSent,
  settleNow,
  timeOutNow,
} from "../resources/commands/command-delivery.ts";
import { type CommandRow, serialOf } from "../resources/commands/command-record.ts";
import { acknowledged, refused } from "../resources/commands/command-settling.ts";
import { isRepeatable } from "../resources/commands/command-types.ts";
import { linkReadings } from "../resources/commands/measurement-results.ts";
import { adoptOrphans } from "../resources/commands/orphaned-commands.ts";
import type { DeviceLink, DownlinkHost, DownlinkLane } from "./downlink.ts";
import { WriterLock } from "./writer-lock.ts";

export interface CommandLaneOptions {
  ackTimeoutSeconds: number;
}

const sweepEveryMs = 500;
/** Every few sweeps, commands whose wake-up was lost are looked for too. */
const wideSweep = 10;
const maxIdsPerQuery = 1000;

export const makeCommandLane =
  (options: CommandLaneOptions) =>
  (host: DownlinkHost): DownlinkLane =>
    new CommandLane(host, options);

/**
 * Writes commands to the devices of this process: one at a time per device, in their order. Every step is in the row before it
 * is taken, so that a crash at any point leaves a command that others can bring to its end.
 */
class CommandLane implements DownlinkLane {
  readonly #host: DownlinkHost;
  readonly #options: CommandLaneOptions;
  readonly #lock: WriterLock;
  readonly #outcomes: OutcomeMetrics;
  readonly #stop: () => Promise<void>;
  /** Devices that are being served; true: once more. */
  readonly #serving = new Map<string, boolean>();
  readonly #running = new Set<Promise<void>>();
  #lookFor = new Set<string>();
  /** Devices whose next readings may be the result of a measurement. */
  readonly #measuring = new Set<string>();
  /** The serial each connection waits for. */
  readonly #serials = new WeakMap<DeviceLink, string>();
  #round = 0;
  #isClosed = false;

  constructor(host: DownlinkHost, options: CommandLaneOptions) {
    this.#host = host;
    this.#options = options;
    this.#lock = new WriterLock(host.db, host.log, host.nodeId);
    this.#outcomes = makeOutcomeMetrics(host.metrics);
    this.#stop = repeat("commands of connected devices", sweepEveryMs, host.log, () => this.#sweep());
  }

  onOpen(link: DeviceLink): void {
    this.#look(link.device.id);
  }

  onWake(link: DeviceLink): void {
    this.#look(link.device.id);
  }

  onMessages({ device }: DeviceLink, messages: readonly TrackerMessage[]): void {
    const isAnswer = messages.some(({ kind }) => kind === "command_answer");
    // While a device is being served its readings may just have been looked for: one that is stored meanwhile is not overlooked.
    const isMeasuring = this.#measuring.has(device.id) || this.#serving.has(device.id);
    const isReading = isMeasuring && messages.some(({ kind }) => kind === "vitals");
    if (isAnswer || isReading) this.#serve(device.id, true);
  }

  onClose({ device }: DeviceLink): void {
    if (!this.#host.linkOf(device.id)) this.#measuring.delete(device.id);
  }

  /** Devices that come together, as after a restart, are looked up together. */
  #look(deviceId: string): void {
    if (this.#isClosed) return;
    this.#lookFor.add(deviceId);
    if (this.#lookFor.size === 1) setImmediate(() => this.#hold(this.#lookAll()));
  }

  async #lookAll(): Promise<void> {
    const ids = [...this.#lookFor];
    this.#lookFor = new Set();
    await this.#lock.taken;
    for (let at = 0; at < ids.length; at += maxIdsPerQuery) {
      const waiting = await findWaiting(this.#host.db, ids.slice(at, at + maxIdsPerQuery));
      for (const { device_id, is_measuring } of waiting) this.#serve(device_id, is_measuring);
    }
  }

  async #sweep(): Promise<void> {
    const { db, clock, nodeId } = this.#host;
    await this.#lock.taken;
    await adoptOrphans(db, clock.now());
    const overdue = await findOverdue(db, nodeId, clock.now());
    const overlooked = this.#round++ % wideSweep === 0 ? await findOverlooked(db, nodeId) : [];
    for (const { device_id } of [...overdue, ...overlooked]) this.#serve(device_id, false);
  }

  #serve(deviceId: string, withReadings: boolean): void {
    if (this.#isClosed) return;
    if (withReadings) this.#measuring.add(deviceId);
    if (this.#serving.has(deviceId)) {
      this.#serving.set(deviceId, true);
      return;
    }
    this.#serving.set(deviceId, false);
    this.#hold(this.#serveDevice(deviceId).finally(() => this.#serving.delete(deviceId)));
  }

  async #serveDevice(deviceId: string): Promise<void> {
    do {
      this.#serving.set(deviceId, false);
      const link = this.#host.linkOf(deviceId);
      if (!link) return;
      await this.#sendNext(link);
      if (this.#measuring.has(deviceId)) await this.#linkReadings(link);
    } while (this.#serving.get(deviceId) && !this.#isClosed);
  }

  /** A failure is no loss: the sweep comes back to what is in the rows. */
  #hold(work: Promise<void>): void {
    const done = work
      .catch((error: Error) => this.#host.log.warn({ err: error.message }, "commands could not be processed; retrying"))
      .finally(() => this.#running.delete(done));
    this.#running.add(done);
  }

  async #linkReadings({ device }: DeviceLink): Promise<void> {
    // Forgotten first: an answer that is heard meanwhile stays noted.
    this.#measuring.delete(device.id);
    if (await linkReadings(this.#host.db, device.organizationId, device.id)) this.#measuring.add(device.id);
  }

  async #sendNext(link: DeviceLink): Promise<void> {
    const { db, clock } = this.#host;
    const { id, organizationId } = link.device;
    let lost: string | undefined;
    while (link.isOpen && !this.#isClosed) {
      const head = await findHead(db, organizationId, id);
      this.#await(link, head && head.status !== "pending" ? serialOf(head) : undefined);
      if (!head) return;
      const isDue = head.due_at !== null && head.due_at.getTime() <= clock.nowMs();
      if (head.status !== "pending") {
        if (!isDue) return;
        if (await this.#overdue(link, head)) continue;
      } else if (isDue) {
        this.#outcomes.countOutcomes(await timeOutNow(db, head, clock.now()));
        continue;
      } else if (await this.#deliver(link, head)) continue;
      // Somebody was faster: look again. Twice: the device is connected elsewhere, and its commands are no longer ours.
      if (lost === head.id) return;
      lost = head.id;
    }
  }

  /** False: it was not ours to take any more. */
  async #deliver(link: DeviceLink, command: CommandRow): Promise<boolean> {
    const { db, clock, nodeId } = this.#host;
    const frames = this.#framesOf(link, command);
    if (!frames) {
      this.#outcomes.countOutcomes(await settleNow(db, refused(command, clock.now(), "not_supported"), command));
      return true;
    }
    const capability = this.#capabilityOf(link, command);
    const claim = { ackWaitSeconds: this.#waitOf(capability), awaited: link.answersTo(frames) };
    const writer = { nodeId, epoch: link.epoch };
    if (!link.isOpen || !(await claimCommand(db, command, writer, claim, clock.now()))) return false;
    await this.#write(link, command, frames, capability);
    return true;
  }

  /** The wait is over: a second write where the type allows it, else the end. */
  async #overdue(link: DeviceLink, command: CommandRow): Promise<boolean> {
    const { db, clock, nodeId } = this.#host;
    const frames = isRepeatable(command.command_type) ? this.#framesOf(link, command) : undefined;
    if (command.attempts > 1 || !frames) {
      this.#outcomes.countOutcomes(await timeOutNow(db, command, clock.now()));
      return true;
    }
    const capability = this.#capabilityOf(link, command);
    const writer = { nodeId, epoch: link.epoch };
    if (!(await claimSecondWrite(db, command, writer, this.#waitOf(capability), clock.now()))) return false;
    await this.#write(link, command, frames, capability);
    return true;
  }

  async #write(
    link: DeviceLink,
    command: CommandRow,
    frames: readonly Buffer[],
    capability: CommandCapability | undefined,
  ): Promise<void> {
    const { db, clock } = this.#host;
    this.#await(link, serialOf(command));
    const isWritten = await link.send(frames);
    await markSent(db, command, !isWritten, clock.now());
    if (isWritten && capability?.requires_ack === false) {
      const acknowledgement = acknowledged(command, clock.now(), { confirmed: false });
      this.#outcomes.countOutcomes(await settleNow(db, acknowledgement, command));
    }
  }

  #framesOf(link: DeviceLink, command: CommandRow): Buffer[] | undefined {
    const { command_type: type, params } = command;
    try {
      return link.encode({ kind: "command", type, params, serial: serialOf(command) });
    } catch (error) {
      if (error instanceof UnsupportedDownlink) return undefined;
      throw error;
    }
  }

  #capabilityOf(link: DeviceLink, { command_type }: CommandRow): CommandCapability | undefined {
    const { catalog } = this.#host;
    const capabilities = catalog.findModel(link.modelSlug) ? catalog.capabilitiesOf(link.modelSlug) : [];
    const capability = capabilities.find(({ code }) => code === command_type) ?? catalog.findCapability(command_type);
    return capability?.kind === "command" ? capability : undefined;
  }

  #waitOf(capability: CommandCapability | undefined): number {
    return capability?.ack_timeout_seconds ?? this.#options.ackTimeoutSeconds;
  }

  /** The codec tells answers by the serials that wait. */
  #await(link: DeviceLink, serial: string | undefined): void {
    const before = this.#serials.get(link);
    if (before === serial) return;
    if (before !== undefined) link.outstandingSerials.delete(before);
    if (serial === undefined) this.#serials.delete(link);
    else {
      this.#serials.set(link, serial);
      link.outstandingSerials.add(serial);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stop();
    await Promise.all(this.#running);
    await this.#lock.close();
  }
}

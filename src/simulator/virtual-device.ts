import { maxStored } from "./device-options.ts";
import type {
  AlarmKind,
  Command,
  DeviceProtocol,
  Effect,
  Packet,
  ServerMessage,
  Setting,
  Snapshot,
} from "./device-protocol.ts";
import { makeEcg } from "./ecg.ts";
import type { FleetMember } from "./fleet.ts";
import { HealthRoutine } from "./health-routine.ts";
import { Inbox } from "./inbox.ts";
import { type Incident, momentAt, nextIncident } from "./life.ts";
import type { Link } from "./link.ts";
import { Orders } from "./orders.ts";
import { uniform } from "./random.ts";
import { sightingAt } from "./sighting.ts";
import type { Sleeper } from "./timer-wheel.ts";
import { makeAmr } from "./voice.ts";
import type { World } from "./world.ts";

type State = "new" | "offline" | "connecting" | "logging_in" | "online" | "closed";

const never = Number.POSITIVE_INFINITY;
const reportsPerHealth = 3;

/**
 * One watch. Packets that want an answer go out one at a time and stay at the head of the outbox until it comes; after a broken
 * connection the head is sent again with the same bytes. It is woken for the nearest of its due times, by one wheel for all.
 */
export class VirtualDevice implements Sleeper {
  readonly member: FleetMember;
  readonly inbox: Inbox;
  /** What commands have set, as it came. */
  readonly settings = new Map<Setting, readonly string[]>();
  dueTick = -1;
  readonly #world: World;
  readonly #protocol: DeviceProtocol;
  #state: State = "new";
  #link: Link | undefined;
  #rest: Buffer | undefined;
  #outbox: Packet[] = [];
  #isAwaiting = false;
  #attempts = 0;
  #sentAtMs = 0;
  #failedConnects = 0;
  /** Reconnecting, or giving up what is in progress; what it means depends on the state. */
  #linkDueMs = never;
  #reportDueMs = never;
  #heartbeatDueMs = never;
  readonly #health: HealthRoutine;
  readonly #orders: Orders;
  #incident: Incident | undefined;
  #incidentDueMs = never;
  #intervalMs: number;
  #trackUntilMs = 0;
  #isLowBattery = false;

  constructor(member: FleetMember, protocol: DeviceProtocol, world: World) {
    this.member = member;
    this.#protocol = protocol;
    this.#world = world;
    this.#intervalMs = world.intervalMs;
    this.#health = new HealthRoutine(world.intervalMs * reportsPerHealth);
    this.inbox = new Inbox(world.tally);
    this.#orders = new Orders(member, world.react, world.tally);
  }

  get isOnline(): boolean {
    return this.#state === "online";
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  /** Packets that are not acknowledged yet. */
  get waiting(): number {
    return this.#outbox.length;
  }

  /** Switched on: connects, and reports from then on. */
  start(nowMs: number): void {
    const spreadMs = Math.min(this.#intervalMs, 30_000);
    const { seed } = this.member.person;
    this.#reportDueMs = nowMs + spreadMs * uniform(seed, "first report");
    this.#health.start(nowMs, seed);
    this.#findIncident(this.#world.lifeMs(nowMs));
    this.#connect();
  }

  close(): void {
    this.#world.wheel.cancel(this);
    this.#leave("closed", never);
  }

  raiseAlarm(alarm: AlarmKind): void {
    this.#world.tally.alarms++;
    this.#queue([this.#protocol.alarm(this.member, this.#snapshot(), alarm)]);
  }

  say(amr: Buffer): void {
    this.#world.tally.voiceSent++;
    this.#queue(this.#protocol.voice(this.member, this.#snapshot(), amr));
  }

  /** Half a minute of heartbeats that has just been recorded. False: this model has no sensor for it. */
  recordEcg(seconds = 30): boolean {
    const now = this.#snapshot();
    const ecg = makeEcg(this.member.person.seed, now.life.pulse, now.atMs - seconds * 1000, seconds);
    const packets = this.#protocol.ecg(this.member, ecg);
    if (packets.length === 0) return false;
    this.#world.tally.ecgSent++;
    this.#queue(packets);
    return true;
  }

  wake(nowMs: number): void {
    if (this.#state === "closed") return;
    if (nowMs >= this.#linkDueMs) this.#linkIsDue();
    if (nowMs >= this.#incidentDueMs) this.#meetIncident();
    if (nowMs >= this.#reportDueMs) this.#report(nowMs);
    if (this.#state === "online") this.#speakUp(nowMs);
    this.#pump();
    this.#sleep();
  }

  #sleep(): void {
    if (this.#state === "closed") return;
    let dueMs = Math.min(this.#linkDueMs, this.#incidentDueMs, this.#reportDueMs);
    if (this.#state === "online") {
      dueMs = Math.min(dueMs, this.#heartbeatDueMs, this.#health.dueMs, this.#orders.dueMs);
    }
    if (dueMs < never) this.#world.wheel.schedule(this, dueMs);
  }

  #snapshot(): Snapshot {
    const { person } = this.member;
    const atMs = this.#world.nowMs();
    const lifeMs = this.#world.lifeMs(atMs);
    const life = momentAt(person, lifeMs);
    return { atMs, life, seen: sightingAt(person, lifeMs, life, this.#world.hasNoise) };
  }

  #report(nowMs: number): void {
    const now = this.#snapshot();
    const isStored = this.#state !== "online";
    const everyMs = nowMs < this.#trackUntilMs ? this.#world.timings.trackEveryMs : this.#intervalMs;
    this.#reportDueMs = nowMs + Math.min(everyMs, this.#intervalMs);
    this.#queue([this.#protocol.location(this.member, now, isStored)]);
    const { battery } = now.life;
    if (battery > 20) this.#isLowBattery = false;
    else if (battery <= 15 && !this.#isLowBattery) {
      this.#isLowBattery = true;
      this.raiseAlarm("low_battery");
    }
  }

  /** What only a connected device does. */
  #speakUp(nowMs: number): void {
    for (let late = this.#orders.takeDue(nowMs); late; late = this.#orders.takeDue(nowMs)) this.#obey(late);
    if (this.#state !== "online") return;
    for (const what of this.#health.take(nowMs)) {
      this.#queue(this.#protocol.readings(this.member, this.#snapshot(), what));
    }
    if (nowMs >= this.#heartbeatDueMs) {
      this.#heartbeatDueMs = nowMs + this.#world.timings.heartbeatMs;
      this.#queue([this.#protocol.heartbeat(this.member, this.#snapshot())]);
    }
  }

  #findIncident(afterLifeMs: number): void {
    this.#incident = nextIncident(this.member.person, afterLifeMs);
    this.#incidentDueMs = this.#incident ? this.#world.wireMs(this.#incident.atMs) : never;
  }

  #meetIncident(): void {
    const incident = this.#incident;
    if (!incident) return;
    if (incident.kind === "voice") {
      const { seed } = this.member.person;
      this.say(makeAmr(seed, 1 + 3 * uniform(seed, "spoken", incident.atMs)));
    } else if (incident.kind === "ecg") this.recordEcg();
    else this.raiseAlarm(incident.kind);
    this.#findIncident(incident.atMs);
  }

  #queue(packets: readonly Packet[]): void {
    this.#outbox.push(...packets);
    const isFull = this.#state !== "online" && this.#outbox.length > maxStored;
    // The head may have been sent already: whether it is stored is not known, so it stays.
    if (isFull) this.#world.tally.dropped += this.#outbox.splice(1, this.#outbox.length - maxStored).length;
    this.#pump();
  }

  #pump(): void {
    while (this.#state === "online" && !this.#isAwaiting) {
      const packet = this.#outbox[0];
      if (!packet) return;
      this.#attempts = 0;
      this.#transmit(packet);
      if (packet.answer === null) this.#outbox.shift();
    }
  }

  #transmit(packet: Packet): void {
    const { tally, timings } = this.#world;
    this.#sentAtMs = this.#world.nowMs();
    this.#heartbeatDueMs = this.#sentAtMs + timings.heartbeatMs;
    this.#attempts++;
    tally.sent++;
    if (packet.answer !== null) {
      tally.expectingAnswer++;
      this.#isAwaiting = true;
      this.#linkDueMs = this.#sentAtMs + timings.answerTimeoutMs;
    }
    this.#link?.write(packet.bytes);
    this.#sleep();
  }

  #connect(): void {
    this.#state = "connecting";
    this.#linkDueMs = this.#world.nowMs() + this.#world.timings.connectTimeoutMs;
    this.#link = this.#world.openLink({
      onOpen: () => this.#login(),
      onBytes: (bytes) => this.#receive(bytes),
      onClose: (cause) => this.#lost(cause),
    });
    this.#sleep();
  }

  #login(): void {
    this.#world.tally.connections++;
    this.#state = "logging_in";
    this.#attempts = 0;
    this.#transmit(this.#protocol.login(this.member, this.#snapshot()));
  }

  #linkIsDue(): void {
    const { tally, timings } = this.#world;
    const head = this.#outbox[0];
    if (this.#state === "offline") this.#connect();
    else if (this.#state === "online" && this.#isAwaiting && head && this.#attempts < timings.maxAttempts) {
      tally.resent++;
      this.#transmit(head);
    } else if (this.#state === "online" && !this.#isAwaiting) this.#linkDueMs = never;
    else this.#lost(this.#state === "connecting" ? "connection timed out" : "no answer");
  }

  #lost(cause: string | undefined): void {
    if (this.#state === "closed" || this.#state === "offline") return;
    const { tally, timings } = this.#world;
    if (this.#state === "logging_in" && cause === undefined) tally.refusedLogins++;
    else tally.failed(cause ?? "connection closed");
    const step = Math.min(this.#failedConnects, timings.backoffMs.length - 1);
    const waitMs = timings.backoffMs[step] ?? 1000;
    const salt = uniform(this.member.person.seed, "backoff", this.#failedConnects);
    this.#failedConnects++;
    this.#leave("offline", this.#world.nowMs() + waitMs * (0.75 + 0.5 * salt));
    this.#sleep();
  }

  #leave(state: "offline" | "closed", linkDueMs: number): void {
    if (this.#state === "online") {
      this.#world.tally.online--;
      if (this.#isAwaiting && state === "offline") this.#world.tally.resent++;
    }
    this.#state = state;
    this.#isAwaiting = false;
    this.#linkDueMs = linkDueMs;
    this.#rest = undefined;
    this.#orders.forget();
    const link = this.#link;
    this.#link = undefined;
    link?.close();
  }

  #receive(bytes: Buffer): void {
    const { messages, rest } = this.#protocol.read(
      this.member,
      this.#rest ? Buffer.concat([this.#rest, bytes]) : bytes,
    );
    this.#rest = rest.length > 0 ? rest : undefined;
    for (const one of messages) {
      if (this.#link === undefined) return;
      this.#onMessage(one);
    }
    this.#pump();
    this.#sleep();
  }

  #onMessage(message: ServerMessage): void {
    const { tally } = this.#world;
    switch (message.kind) {
      case "unreadable":
        tally.unreadable++;
        return;
      case "answer":
        this.#answered(message.answer, message.isRefusal);
        return;
      case "command":
        this.#obey(this.#orders.hear(message, this.#world.nowMs()));
    }
  }

  #obey({ acks, effect }: Pick<Command, "acks" | "effect">): void {
    for (const ack of acks) this.#link?.write(ack);
    if (effect) this.#apply(effect);
  }

  #answered(answer: string, isRefusal: boolean): void {
    const { tally, timings } = this.#world;
    const nowMs = this.#world.nowMs();
    if (this.#state === "logging_in") {
      this.#state = "online";
      this.#failedConnects = 0;
      tally.online++;
      this.#heartbeatDueMs = nowMs + timings.heartbeatMs;
    } else {
      const head = this.#outbox[0];
      if (!this.#isAwaiting || head?.answer !== answer) return;
      if (isRefusal && this.#attempts < timings.maxAttempts) {
        tally.resent++;
        this.#transmit(head);
        return;
      }
      this.#outbox.shift();
    }
    tally.acked++;
    tally.waited(nowMs - this.#sentAtMs);
    this.#isAwaiting = false;
    this.#linkDueMs = never;
  }

  #apply(effect: Effect): void {
    const { tally, timings, intervalMs } = this.#world;
    const nowMs = this.#world.nowMs();
    switch (effect.kind) {
      case "track":
        this.#trackUntilMs = nowMs + timings.trackForMs;
        this.#reportDueMs = nowMs;
        break;
      case "locate":
        this.#reportDueMs = nowMs;
        break;
      case "interval":
        this.#intervalMs = effect.seconds * 1000;
        this.#reportDueMs = nowMs + this.#intervalMs;
        break;
      case "measure":
        this.#health.order(effect.what, nowMs + timings.measureMs);
        break;
      case "measure_every":
        this.#health.repeat(effect.what, effect.minutes * 60_000, nowMs);
        break;
      case "factory_reset":
        this.#intervalMs = intervalMs;
        this.#health.repeat("all", intervalMs * reportsPerHealth, nowMs);
        this.#health.repeat("temperature", 0, nowMs);
        this.settings.clear();
        this.#leave("offline", nowMs + timings.restartMs);
        break;
      case "restart":
        this.#leave("offline", nowMs + timings.restartMs);
        break;
      case "power_off":
        // What is off does not report.
        this.#reportDueMs = Math.max(this.#reportDueMs, nowMs + timings.powerOffMs);
        this.#leave("offline", nowMs + timings.powerOffMs);
        break;
      case "setting":
        tally.settings++;
        this.settings.set(effect.name, effect.values);
        break;
      case "ring":
        tally.rings++;
        break;
      case "text":
        this.inbox.text(effect.text);
        break;
      case "voice_part":
        this.inbox.voicePart(effect);
    }
  }
}

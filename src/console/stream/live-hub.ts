import type { Readable } from "node:stream";
import type { Database } from "../../db/database.ts";
import type { PersonPrincipal } from "../../http/principal.ts";
import type { Clock } from "../../lib/clock.ts";
import { throttled } from "../../lib/errors.ts";
import { groupBy } from "../../lib/group-by.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Metrics } from "../../lib/metrics.ts";
import { touchBrowserSessions } from "../../oauth/standing-store.ts";
import { type Frame, frameText, readFrames } from "./change-frames.ts";
import { findTop, listChanges, numberChanges } from "./change-store.ts";
import { type DeviceChange, DeviceChanges } from "./device-changes.ts";
import { renewRights } from "./live-rights.ts";
import { LiveStream } from "./live-stream.ts";
import { readMissed } from "./missed-changes.ts";

const maxStreamsPerPerson = 20;
const maxChangesAtOnce = 1000;
/** Without the database a stream would say nothing and look alive. */
const maxOutageMs = 10_000;
const touchEveryMs = 5 * 60_000;

export interface LiveHubOptions {
  db: Database;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  pollMs?: number;
  deviceEveryMs?: number;
  rightsEveryMs?: number;
  commentEveryMs?: number;
}

/**
 * Feeds all streams of this process from one reader. While nobody listens it asks the database nothing. Rights are read after
 * the changes and before they are sent: what has ended before a change was committed ends before it is seen.
 */
export class LiveHub {
  readonly #options: Required<LiveHubOptions>;
  readonly #streams = new Set<LiveStream>();
  /** Opened, and nothing sent yet. */
  readonly #waiting = new Set<LiveStream>();
  #devices: DeviceChanges;
  /** Everything up to here has been sent. */
  #position: number | undefined;
  #running: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #isClosed = false;
  /** Never: the first round sets the mark of devices before anybody is greeted. */
  #lastDevicesMs = Number.NEGATIVE_INFINITY;
  #lastRightsMs = Number.NEGATIVE_INFINITY;
  #lastTouchMs = Number.NEGATIVE_INFINITY;

  constructor(options: LiveHubOptions) {
    this.#options = { pollMs: 250, deviceEveryMs: 1000, rightsEveryMs: 2000, commentEveryMs: 15_000, ...options };
    this.#devices = new DeviceChanges(options.db);
    options.metrics.gauge("vigil_console_streams", "Open live streams of consoles.", () => this.#streams.size);
  }

  /** The bytes of a new stream. Destroying them closes it. */
  open(principal: PersonPrincipal, lastEventId: string | undefined): Readable {
    const isOwn = (stream: LiveStream): boolean => stream.principal.id === principal.id;
    const own = [...this.#streams, ...this.#waiting].filter(isOwn).length;
    if (own >= maxStreamsPerPerson) throw throttled(30);
    const stream: LiveStream = new LiveStream(principal, lastEventId, () => this.#remove(stream));
    if (this.#isClosed) stream.end();
    else {
      this.#waiting.add(stream);
      this.#wake();
      this.#start();
    }
    return stream.output;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endAll();
    this.#wake();
    await this.#running;
  }

  #remove(stream: LiveStream): void {
    this.#streams.delete(stream);
    this.#waiting.delete(stream);
  }

  #end(stream: LiveStream): void {
    this.#remove(stream);
    stream.end();
  }

  #endAll(): void {
    for (const stream of [...this.#streams, ...this.#waiting]) this.#end(stream);
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (this.#waiting.size > 0) this.#start();
    });
  }

  async #run(): Promise<void> {
    const comments = setInterval(() => this.#comment(), this.#options.commentEveryMs);
    let goodMs = Date.now();
    while (this.#streams.size + this.#waiting.size > 0) {
      let isGood = false;
      try {
        await this.#round();
        isGood = true;
        goodMs = Date.now();
      } catch (error) {
        this.#options.log.warn({ err: error }, "the live streams could not be fed; retrying");
        if (Date.now() - goodMs > maxOutageMs) this.#endAll();
      }
      if (!isGood || this.#waiting.size === 0) await this.#pause();
    }
    clearInterval(comments);
    this.#position = undefined;
    this.#lastDevicesMs = Number.NEGATIVE_INFINITY;
    this.#devices = new DeviceChanges(this.#options.db);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #comment(): void {
    for (const stream of this.#streams) stream.write(":\n\n");
  }

  async #round(): Promise<void> {
    const { clock, deviceEveryMs, rightsEveryMs } = this.#options;
    await this.#tellChanges();
    if (performance.now() - this.#lastDevicesMs >= deviceEveryMs) {
      this.#lastDevicesMs = performance.now();
      await this.#tellDevices(await this.#devices.read(this.#organizations()));
    }
    if (performance.now() - this.#lastRightsMs >= rightsEveryMs) {
      this.#lastRightsMs = performance.now();
      await this.#renew([...this.#streams]);
      await this.#touch(clock.now());
    }
    await this.#admit();
  }

  async #tellChanges(): Promise<void> {
    const { db } = this.#options;
    await numberChanges(db);
    const top = await findTop(db);
    this.#position ??= top;
    while (this.#position < top) {
      const cursor = { after: this.#position, untilSeq: top, limit: maxChangesAtOnce };
      const changes = await listChanges(db, this.#organizations(), cursor);
      const frames = await readFrames(db, changes);
      const concerned = new Set(frames.map(({ organizationId }) => organizationId));
      await this.#renew([...this.#streams].filter((stream) => concerned.has(stream.organizationId)));
      this.#position = changes.length < maxChangesAtOnce ? top : (changes.at(-1)?.seq ?? top);
      this.#tell(frames);
    }
  }

  async #tellDevices(changes: readonly DeviceChange[]): Promise<void> {
    if (changes.length === 0) return;
    const concerned = new Set(changes.map(({ organizationId }) => organizationId));
    await this.#renew([...this.#streams].filter((stream) => concerned.has(stream.organizationId)));
    const position = this.#position ?? 0;
    this.#tell(
      changes.map(({ organizationId, deviceId, live }): Frame => {
        const text = frameText(position, "device", live);
        return { seq: position, organizationId, deviceId, textFor: () => text };
      }),
    );
  }

  /** All who see everything of an organization get the same bytes. */
  #tell(frames: readonly Frame[]): void {
    const framesOf = groupBy(frames, ({ organizationId }) => organizationId);
    const whole = new Map<string, Buffer>();
    const byDevice = groupBy(frames, ({ deviceId }) => deviceId);
    for (const stream of this.#streams) {
      const { organizationId, principal } = stream;
      const own = framesOf.get(organizationId);
      if (!own) continue;
      if (!stream.seesAll) {
        stream.write(textOf(framesFor(stream, own, byDevice), stream));
        continue;
      }
      const bytes = whole.get(organizationId) ?? Buffer.from(own.map((frame) => frame.textFor(principal)).join(""));
      whole.set(organizationId, bytes);
      stream.write(bytes);
    }
  }

  /** Greets the new ones, and tells those who come back what they have missed. */
  async #admit(): Promise<void> {
    const { db, clock } = this.#options;
    const position = this.#position ?? 0;
    const entering = [...this.#waiting];
    if (entering.length === 0) return;
    await this.#renew(entering);
    const missed = await readMissed(db, entering, position);
    for (const stream of entering) {
      if (!this.#waiting.delete(stream)) continue;
      stream.write(`retry: 2000\n${frameText(position, "hello", { now: clock.now().toISOString() })}`);
      const frames = missed.get(stream);
      stream.write(frames === "resync" ? frameText(position, "resync", {}) : textOf(frames ?? [], stream));
      this.#streams.add(stream);
    }
  }

  async #renew(streams: readonly LiveStream[]): Promise<void> {
    if (streams.length === 0) return;
    const { db, clock } = this.#options;
    for (const stream of await renewRights(db, streams, clock.now())) this.#end(stream);
  }

  async #touch(now: Date): Promise<void> {
    if (performance.now() - this.#lastTouchMs < touchEveryMs) return;
    this.#lastTouchMs = performance.now();
    const ids = [...this.#streams].flatMap(({ principal }) => principal.browserSessionId ?? []);
    if (ids.length > 0) await touchBrowserSessions(this.#options.db, ids, now);
  }

  #organizations(): string[] {
    return [...new Set([...this.#streams].map(({ organizationId }) => organizationId))];
  }
}

/** Of a person with few devices the frames are found by device: a thousand families do not each look at every change of a fleet. */
function framesFor(
  { deviceIds }: LiveStream,
  own: readonly Frame[],
  byDevice: ReadonlyMap<string, readonly Frame[]>,
): readonly Frame[] {
  if (deviceIds.size > own.length) return own;
  return [...deviceIds].flatMap((id) => byDevice.get(id) ?? []).sort((a, b) => a.seq - b.seq);
}

const textOf = (frames: readonly Frame[], stream: LiveStream): string =>
  frames
    .filter(({ deviceId }) => stream.sees(deviceId))
    .map((frame) => frame.textFor(stream.principal))
    .join("");

/**
 * Slows down peers that guess ids, without locking out the honest devices at the same address (section 30, Guessing): after too
 * many refused logins, logins from that network are answered one after the other, those of devices that were last seen there
 * first. A login keeps its place, also while the device connects again.
 */
export interface ThrottleLimits {
  refusedLoginsPerMinute: number;
  slowedMs: number;
  slowedAnswersPerSecond: number;
}

/** `turn`: to be answered now. `replaced`: the device logs in again on another connection. `left`: it hung up. */
export type TurnOutcome = "turn" | "replaced" | "left";

export interface WaitingLogin {
  network: string;
  /** Names the device: a second login of it takes the place of the first. */
  key: string;
  wasSeenHere: boolean;
}

type End = (outcome: TurnOutcome) => void;

interface SlowedNetwork {
  /** Times of the latest refusals, one more than is allowed in a minute. */
  refusedAtMs: number[];
  slowedUntilMs: number;
  nextTurnAtMs: number;
  timer: NodeJS.Timeout | undefined;
  /** Null: the device hung up, and its place is kept. */
  seenHere: Map<string, End | null>;
  others: Map<string, End>;
}

const maxNetworks = 20_000;
const windowMs = 60_000;

export class LoginThrottle {
  readonly #limits: ThrottleLimits;
  readonly #now: () => number;
  readonly #networks = new Map<string, SlowedNetwork>();
  /** Told when a network begins to be slowed, or stays slowed for longer. */
  readonly #onSlowed: (network: string, forMs: number) => void;

  constructor(
    limits: ThrottleLimits,
    onSlowed: (network: string, forMs: number) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#limits = limits;
    this.#onSlowed = onSlowed;
    this.#now = now;
  }

  get slowedCount(): number {
    const nowMs = this.#now();
    let count = 0;
    for (const { slowedUntilMs } of this.#networks.values()) if (slowedUntilMs > nowMs) count++;
    return count;
  }

  get waitingCount(): number {
    let count = 0;
    for (const { seenHere, others } of this.#networks.values()) {
      for (const end of seenHere.values()) if (end) count++;
      count += others.size;
    }
    return count;
  }

  /** A login from the network was refused. */
  refused(network: string): void {
    const nowMs = this.#now();
    const state = this.#stateOf(network);
    state.refusedAtMs.push(nowMs);
    const { refusedLoginsPerMinute, slowedMs } = this.#limits;
    if (state.refusedAtMs.length <= refusedLoginsPerMinute) return;
    const first = state.refusedAtMs.shift() as number;
    if (nowMs - first >= windowMs) return;
    // Told once a minute while it goes on.
    const isNews = state.slowedUntilMs < nowMs + slowedMs - windowMs;
    if (!isNews) return;
    state.slowedUntilMs = nowMs + slowedMs;
    this.#onSlowed(network, slowedMs);
  }

  isSlowed(network: string): boolean {
    const state = this.#networks.get(network);
    return state !== undefined && state.slowedUntilMs > this.#now();
  }

  waitForTurn({ network, key, wasSeenHere }: WaitingLogin): Promise<TurnOutcome> {
    const state = this.#stateOf(network);
    return new Promise((resolve) => {
      const places: Map<string, End | null> = wasSeenHere ? state.seenHere : state.others;
      // Setting a key that is there keeps its place.
      places.get(key)?.("replaced");
      places.set(key, resolve);
      this.#schedule(state);
    });
  }

  /** For a peer that does not wait: false while others do, or while the last answer is too fresh. */
  takeFreeTurn(network: string): boolean {
    const state = this.#stateOf(network);
    const nowMs = this.#now();
    if (firstOf(state) || state.nextTurnAtMs > nowMs) return false;
    state.nextTurnAtMs = nowMs + 1000 / this.#limits.slowedAnswersPerSecond;
    return true;
  }

  /** The connection has closed. Only devices that were seen here keep their place: there are no more of them than registered ones. */
  leave({ network, key, wasSeenHere }: WaitingLogin): void {
    const state = this.#networks.get(network);
    if (!state) return;
    const places: Map<string, End | null> = wasSeenHere ? state.seenHere : state.others;
    const end = places.get(key);
    if (!end) return;
    if (wasSeenHere) places.set(key, null);
    else places.delete(key);
    end("left");
  }

  #stateOf(network: string): SlowedNetwork {
    let state = this.#networks.get(network);
    if (!state) {
      if (this.#networks.size >= maxNetworks) this.#makeRoom();
      state = {
        refusedAtMs: [],
        slowedUntilMs: 0,
        nextTurnAtMs: 0,
        timer: undefined,
        seenHere: new Map(),
        others: new Map(),
      };
      this.#networks.set(network, state);
    }
    return state;
  }

  #makeRoom(): void {
    this.prune();
    if (this.#networks.size < maxNetworks) return;
    const nowMs = this.#now();
    for (const [network, { slowedUntilMs }] of this.#networks) {
      if (slowedUntilMs <= nowMs) return void this.#networks.delete(network);
    }
  }

  #schedule(state: SlowedNetwork): void {
    if (state.timer) return;
    state.timer = setTimeout(
      () => {
        state.timer = undefined;
        this.#giveTurn(state);
      },
      Math.max(0, state.nextTurnAtMs - this.#now()),
    );
  }

  #giveTurn(state: SlowedNetwork): void {
    if (state.slowedUntilMs <= this.#now()) {
      const all = [...state.seenHere.values(), ...state.others.values()];
      state.seenHere.clear();
      state.others.clear();
      for (const end of all) end?.("turn");
      return;
    }
    const [key, end, places] = firstOf(state) ?? [];
    if (key === undefined || !end || !places) return;
    places.delete(key);
    state.nextTurnAtMs = this.#now() + 1000 / this.#limits.slowedAnswersPerSecond;
    end("turn");
    if (firstOf(state)) this.#schedule(state);
  }

  /** Forgets networks that are slowed no more and have no recent refusal. */
  prune(): void {
    const nowMs = this.#now();
    for (const [network, state] of this.#networks) {
      const isQuiet = nowMs - (state.refusedAtMs.at(-1) ?? 0) > windowMs;
      if (isQuiet && state.slowedUntilMs <= nowMs && !firstOf(state)) this.#networks.delete(network);
    }
  }

  close(): void {
    for (const state of this.#networks.values()) {
      clearTimeout(state.timer);
      for (const end of [...state.seenHere.values(), ...state.others.values()]) end?.("left");
    }
    this.#networks.clear();
  }
}

function firstOf({ seenHere, others }: SlowedNetwork): [string, End, Map<string, End | null>] | undefined {
  for (const [key, end] of seenHere) if (end) return [key, end, seenHere];
  for (const [key, end] of others) return [key, end, others];
  return undefined;
}

import type pg from "pg";

/** What a connection of a gateway is doing about the outbound lane of its batch. The last three hold the lock. */
export type LanePhase = "waits" | "program" | "copies" | "flush";

interface Activity {
  state: string;
  waits_for: string | null;
  query: string;
}

export interface LaneShares {
  /** Connections that wait for a lane, on average. */
  waiting: number;
  /** Shares of the time in which a lane is locked: by a program that makes its rows, by the copies, by the wait for the disk. */
  program: number;
  copies: number;
  flush: number;
}

const activities = `
  select state, wait_event_type || ':' || wait_event as waits_for, query from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')`;

/** Undefined: it has no lane. */
export function phaseOf({ state, waits_for, query }: Activity): LanePhase | undefined {
  if (query.includes("update outbound_lanes")) {
    if (state === "idle in transaction") return "program";
    return waits_for?.startsWith("Lock:") ? "waits" : undefined;
  }
  if (!query.includes("copy outbound_events")) return undefined;
  return waits_for?.startsWith("IO:Wal") || waits_for?.startsWith("LWLock:WALWrite") ? "flush" : "copies";
}

/** Looks every few milliseconds until it is stopped. */
export function sampleLanes(client: pg.Client, everyMs = 4): { stop(): Promise<LaneShares> } {
  let isStopped = false;
  const counts: Record<LanePhase, number> = { waits: 0, program: 0, copies: 0, flush: 0 };
  let looks = 0;
  const running = (async () => {
    while (!isStopped) {
      const { rows } = await client.query<Activity>(activities);
      looks++;
      for (const row of rows) {
        const phase = phaseOf(row);
        if (phase) counts[phase]++;
      }
      await new Promise((done) => setTimeout(done, everyMs));
    }
  })();
  return {
    stop: async () => {
      isStopped = true;
      await running;
      const share = (phase: LanePhase): number => counts[phase] / Math.max(1, looks);
      return { waiting: share("waits"), program: share("program"), copies: share("copies"), flush: share("flush") };
    },
  };
}

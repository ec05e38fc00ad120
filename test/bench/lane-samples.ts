import type pg from "pg";

/** What a connection of a gateway is doing about the outbound lanes of its batch. All but the first hold the lock. */
export type LanePhase = "waits" | "program" | "rows" | "commit";

interface Activity {
  state: string;
  waits_for: string | null;
  query: string;
}

export interface LaneShares {
  /** Connections that wait for a lane, on average. */
  waiting: number;
  /** Shares of the time in which a lane is locked: by a program that is to say what comes next, while rows are written, by the commit. */
  program: number;
  rows: number;
  commit: number;
}

const activities = `
  select state, wait_event_type || ':' || wait_event as waits_for, query from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and state in ('active', 'idle in transaction')`;

/** Undefined: it has no lane. Every transaction of a bench that commits in a message of its own statements has one. */
export function phaseOf({ state, waits_for, query }: Activity): LanePhase | undefined {
  if (query === "commit") return "commit";
  if (!query.includes("update outbound_lanes")) return undefined;
  if (state === "idle in transaction") return "program";
  return waits_for?.startsWith("Lock:") ? "waits" : "rows";
}

/** Looks every few milliseconds until it is stopped. */
export function sampleLanes(client: pg.Client, everyMs = 4): { stop(): Promise<LaneShares> } {
  let isStopped = false;
  const counts: Record<LanePhase, number> = { waits: 0, program: 0, rows: 0, commit: 0 };
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
      return { waiting: share("waits"), program: share("program"), rows: share("rows"), commit: share("commit") };
    },
  };
}

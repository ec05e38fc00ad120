/**
 * The metrics of several processes as those of one. Most are summed. A gauge that every process of a role shows alike, or that
 * says how bad the worst is, cannot be.
 */
const largest: ReadonlySet<string> = new Set([
  "vigil_commands_open",
  "vigil_messages_open",
  "vigil_last_backup_timestamp_seconds",
  "vigil_event_loop_delay_seconds",
  "vigil_disk_floor_reached",
  "vigil_gateway_paused",
  "vigil_gateway_slowed_networks",
  "vigil_retention_stopped",
  "vigil_place_service_left_alone",
  "vigil_webhook_lag_seconds",
  "vigil_wal_archive_last_timestamp_seconds",
  "vigil_wal_archive_failing",
]);
const smallest: ReadonlySet<string> = new Set([
  "process_start_time_seconds",
  "vigil_disk_free_bytes",
  "vigil_memory_available_bytes",
  "vigil_read_replica_up",
]);

interface Family {
  /** The lines that describe it. */
  head: string[];
  isGauge: boolean;
  series: Map<string, number>;
}

export type Families = Map<string, Family>;

/** Reads what Metrics.render writes. */
export function parseMetrics(text: string): Families {
  const families: Families = new Map();
  let family: Family | undefined;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, kind, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
    if (kind === "HELP") {
      family = { head: [line], isGauge: false, series: new Map() };
      families.set(name, family);
    } else if (kind === "TYPE" && family) {
      family.head.push(line);
      family.isGauge = line.endsWith(" gauge");
    } else if (family) {
      const end = line.lastIndexOf(" ");
      family.series.set(line.slice(0, end), Number(line.slice(end + 1)));
    }
  }
  return families;
}

function mergedValue(name: string, a: number | undefined, b: number): number {
  if (a === undefined) return b;
  if (largest.has(name)) return Math.max(a, b);
  return smallest.has(name) ? Math.min(a, b) : a + b;
}

export function mergeMetrics(processes: readonly Families[]): Families {
  const merged: Families = new Map();
  for (const families of processes) {
    for (const [name, { head, isGauge, series }] of families) {
      const into = merged.get(name) ?? { head, isGauge, series: new Map<string, number>() };
      merged.set(name, into);
      for (const [key, value] of series) into.series.set(key, mergedValue(name, into.series.get(key), value));
    }
  }
  return merged;
}

/** What stays of a process that has ended: its counts, or those of the whole would go back. */
export function countsOf(families: Families): Families {
  return new Map([...families].filter(([, { isGauge }]) => !isGauge));
}

export function renderMetrics(families: Families): string {
  const blocks = [...families.values()].map(({ head, series }) =>
    [...head, ...[...series].map(([key, value]) => `${key} ${value}`)].join("\n"),
  );
  return `${blocks.join("\n")}\n`;
}

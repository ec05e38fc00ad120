/** Counters, gauges and histograms in the text format of Prometheus. Label values come from the program, never from input. */
export type Labels = Readonly<Record<string, string | number>>;

export interface Counter {
  add(labels: Labels, amount?: number): void;
  /** The series of these labels, for a caller that counts often. */
  at(labels: Labels): (amount?: number) => void;
}

export interface Histogram {
  observe(labels: Labels, value: number): void;
  at(labels: Labels): (value: number) => void;
}

interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  lines(): string[];
}

export class Metrics {
  readonly #metrics: Metric[] = [];
  readonly #counters = new Map<string, Counter>();
  readonly #histograms = new Map<string, Histogram>();

  /** The one of this name: several parts may count the same. */
  counter(name: string, help: string): Counter {
    return entryOf(this.#counters, name, () => this.#newCounter(name, help));
  }

  #newCounter(name: string, help: string): Counter {
    const series = new Map<string, { value: number }>();
    const lines = (): string[] => [...series].map(([labels, { value }]) => `${name}${labels} ${value}`);
    this.#metrics.push({ name, help, type: "counter", lines });
    const at: Counter["at"] = (labels) => {
      const entry = entryOf(series, labelText(labels), () => ({ value: 0 }));
      return (amount = 1) => {
        entry.value += amount;
      };
    };
    return { at, add: (labels, amount) => at(labels)(amount) };
  }

  /** Read when asked for. */
  gauge(name: string, help: string, read: () => number | Iterable<readonly [Labels, number]>): void {
    const lines = (): string[] => {
      const value = read();
      if (typeof value === "number") return [`${name} ${value}`];
      return [...value].map(([labels, amount]) => `${name}${labelText(labels)} ${amount}`);
    };
    this.#metrics.push({ name, help, type: "gauge", lines });
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return entryOf(this.#histograms, name, () => this.#newHistogram(name, help, bounds));
  }

  #newHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
    interface Series {
      labels: Labels;
      /** How many fell into each bucket alone; the last one has no upper bound. */
      counts: number[];
      sum: number;
    }
    const series = new Map<string, Series>();
    const linesOf = ({ labels, counts, sum }: Series): string[] => {
      let total = 0;
      const buckets = [...bounds, "+Inf"].map((le, index) => {
        total += counts[index] as number;
        return `${name}_bucket${labelText({ ...labels, le })} ${total}`;
      });
      return [...buckets, `${name}_sum${labelText(labels)} ${sum}`, `${name}_count${labelText(labels)} ${total}`];
    };
    this.#metrics.push({ name, help, type: "histogram", lines: () => [...series.values()].flatMap(linesOf) });
    const at: Histogram["at"] = (labels) => {
      const fresh = (): Series => ({ labels, counts: [...bounds, 0].map(() => 0), sum: 0 });
      const entry = entryOf(series, labelText(labels), fresh);
      return (value) => {
        let index = 0;
        while (index < bounds.length && value > (bounds[index] as number)) index++;
        entry.counts[index] = (entry.counts[index] as number) + 1;
        entry.sum += value;
      };
    };
    return { at, observe: (labels, value) => at(labels)(value) };
  }

  /** The values that would be shown under this name now, by the text of their labels; those of a histogram under `name_count`. */
  read(name: string): ReadonlyMap<string, number> {
    const values = new Map<string, number>();
    for (const metric of this.#metrics) {
      if (!name.startsWith(metric.name)) continue;
      for (const line of metric.lines()) {
        const [shown, labels = "", value] = /^([^{ ]+)(\{.*\})? (\S+)$/.exec(line)?.slice(1) ?? [];
        if (shown === name) values.set(labels, Number(value));
      }
    }
    return values;
  }

  render(): string {
    const blocks = this.#metrics.map(({ name, help, type, lines }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()].join("\n"),
    );
    return `${blocks.join("\n")}\n`;
  }
}

export function entryOf<K, T>(series: Map<K, T>, key: K, fresh: () => T): T {
  const known = series.get(key);
  if (known !== undefined) return known;
  const entry = fresh();
  series.set(key, entry);
  return entry;
}

function labelText(labels: Labels): string {
  let text = "";
  for (const name in labels) text += `${text === "" ? "{" : ","}${name}="${escaped(String(labels[name]))}"`;
  return text === "" ? "" : `${text}}`;
}

const escaped = (value: string): string =>
  /["\\\n]/.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;

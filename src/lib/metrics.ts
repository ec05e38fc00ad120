/** Counters, gauges and histograms in the text format of Prometheus. Label values come from the program, never from input. */
export type Labels = Readonly<Record<string, string | number>>;

export interface Counter {
  add(labels: Labels, amount?: number): void;
  /** The same for labels that are known beforehand, where each call counts. */
  of(labels: Labels): (amount: number) => void;
}

interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge" | "histogram";
  lines(): string[];
}

export class Metrics {
  readonly #metrics: Metric[] = [];

  counter(name: string, help: string): Counter {
    const values = new Map<string, number>();
    this.#metrics.push({
      name,
      help,
      type: "counter",
      lines: () => [...values].map(([labels, value]) => `${name}${labels} ${value}`),
    });
    const addTo = (key: string, amount: number): void => {
      values.set(key, (values.get(key) ?? 0) + amount);
    };
    return {
      add: (labels, amount = 1) => addTo(labelText(labels), amount),
      of: (labels) => {
        const key = labelText(labels);
        return (amount) => addTo(key, amount);
      },
    };
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

  histogram(name: string, help: string, bounds: readonly number[]): { observe(labels: Labels, value: number): void } {
    const series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
    const lines = (): string[] =>
      [...series.values()].flatMap(({ labels, counts, sum, count }) => [
        ...bounds.map((bound, index) => `${name}_bucket${labelText({ ...labels, le: bound })} ${counts[index]}`),
        `${name}_bucket${labelText({ ...labels, le: "+Inf" })} ${count}`,
        `${name}_sum${labelText(labels)} ${sum}`,
        `${name}_count${labelText(labels)} ${count}`,
      ]);
    this.#metrics.push({ name, help, type: "histogram", lines });
    return {
      observe: (labels, value) => {
        const key = labelText(labels);
        let entry = series.get(key);
        if (!entry) {
          entry = { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
          series.set(key, entry);
        }
        entry.sum += value;
        entry.count++;
        for (const [index, bound] of bounds.entries()) {
          if (value <= bound) entry.counts[index] = (entry.counts[index] as number) + 1;
        }
      },
    };
  }

  render(): string {
    const blocks = this.#metrics.map(({ name, help, type, lines }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()].join("\n"),
    );
    return `${blocks.join("\n")}\n`;
  }
}

function labelText(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return "";
  const escaped = (value: string | number): string =>
    String(value).replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `{${entries.map(([name, value]) => `${name}="${escaped(value)}"`).join(",")}}`;
}

/** How many rows each table lost, or had something taken out of; and files. The only thing that is left to tell. */
export class ErasureReport {
  readonly #rows = new Map<string, number>();
  readonly #onRows: (total: number) => void;
  #total = 0;

  /** Hears the total as it grows. */
  constructor(onRows: (total: number) => void = () => undefined) {
    this.#onRows = onRows;
  }

  add(table: string, count: number): void {
    if (count === 0) return;
    this.#rows.set(table, (this.#rows.get(table) ?? 0) + count);
    this.#total += count;
    this.#onRows(this.#total);
  }

  get total(): number {
    return this.#total;
  }

  get rows(): Record<string, number> {
    return Object.fromEntries([...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The name of a mobile network as its customers know it; null when the pair is not known. */
export type CarrierName = (mcc: number, mnc: number) => string | null;

/** A row of mcc-mnc-list; its own types leave the nulls out. */
interface NetworkRow {
  mcc: string;
  mnc: string;
  brand: string | null;
  operator: string | null;
  status: string;
}

/** Reads the list once; only the names are kept (3,000 of them). */
export function loadCarriers(): CarrierName {
  const file = createRequire(import.meta.url).resolve("mcc-mnc-list/mcc-mnc-list.json");
  return carriersOf(JSON.parse(readFileSync(file, "utf8")) as NetworkRow[]);
}

/** The list repeats some networks: an old entry beside the live one, or one entry per island. The first of the best wins. */
export function carriersOf(rows: readonly NetworkRow[]): CarrierName {
  const best = new Map<string, { name: string; rank: number }>();
  for (const { mcc, mnc, brand, operator, status } of rows) {
    const name = brand ?? operator;
    if (name === null) continue;
    const key = `${mcc}-${mnc}`;
    const rank = (status === "Operational" ? 2 : 0) + (brand === null ? 0 : 1);
    if (rank > (best.get(key)?.rank ?? -1)) best.set(key, { name, rank });
  }
  const names = new Map([...best].map(([key, { name }]) => [key, name]));
  return (mcc, mnc) => {
    const country = String(mcc).padStart(3, "0");
    // 01 and 001 are different networks, but a tracker sends the number 1.
    const nameOf = (digits: number) => names.get(`${country}-${String(mnc).padStart(digits, "0")}`);
    return nameOf(2) ?? nameOf(3) ?? null;
  };
}

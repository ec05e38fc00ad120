import { MalformedFrame } from "../malformed-frame.ts";
import type { MetricKey } from "../metric-keys.ts";
import type { Session } from "../protocol-definition.ts";
import type { Heartbeat, TrackerMessage, Vitals } from "../tracker-message.ts";
import type { IwTraits } from "./traits.ts";

export type IwSession = Session<IwTraits>;

export class IwFrame {
  /** `IW` or `TRV`. */
  readonly prefix: string;
  /** Four characters: `AP01`. */
  readonly code: string;
  /** After the code and its comma. */
  readonly body: string;
  #fields: readonly string[] | undefined;

  constructor(prefix: string, code: string, body: string) {
    this.prefix = prefix;
    this.code = code;
    this.body = body;
  }

  /** Split when somebody first asks: positions, which are most frames, are read without. */
  get fields(): readonly string[] {
    this.#fields ??= this.body.split(",");
    return this.#fields;
  }
}

export type Dialect = IwTraits["dialect"];

export function dialectOf(session: IwSession): Dialect {
  return session.device?.traits.dialect ?? "A";
}

/** The letters that frames of the device begin with. */
export const prefixOf = ({ memory }: Pick<IwSession, "memory">): string => memory.get("iw.prefix") ?? "IW";

/** Undefined for an empty field. */
export function numberOf(text: string | undefined): number | undefined {
  const digits = text?.trim() ?? "";
  if (digits === "") return undefined;
  if (!/^-?\d{1,12}(\.\d{0,12})?$/.test(digits)) throw new MalformedFrame("not a number");
  return Number(digits);
}

export function wholeNumberOf(text: string | undefined): number {
  const digits = text?.trim() ?? "";
  if (!/^\d{1,9}$/.test(digits)) throw new MalformedFrame("not a whole number");
  return Number(digits);
}

/** The whole number in a part of a text. -1: the part is empty, too long, or has something else than digits in it. */
export function digitsIn(text: string, start = 0, end = text.length, maxDigits = 10): number {
  if (end <= start || end - start > maxDigits) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

export type Metrics = Partial<Record<MetricKey, number | null>>;

/** A watch that measured nothing writes zero. An empty field says nothing at all. */
export function reading(key: MetricKey, text: string | undefined): Metrics {
  const value = numberOf(text);
  return value === undefined ? {} : { [key]: value > 0 ? value : null };
}

/** Counts only when both halves are there. */
export function bloodPressure(sbpText: string | undefined, dbpText: string | undefined): Metrics {
  const [sbp, dbp] = [numberOf(sbpText), numberOf(dbpText)];
  if (sbp === undefined && dbp === undefined) return {};
  const isWhole = (sbp ?? 0) > 0 && (dbp ?? 0) > 0;
  return isWhole ? { sbp: sbp ?? null, dbp: dbp ?? null } : { sbp: null, dbp: null };
}

const noExtra = {};

/** A frame without any value is a sign of life all the same. */
export function vitals(
  deviceTimeMs: number | null,
  metrics: Metrics,
  extra: Record<string, unknown> = noExtra,
): Vitals | Heartbeat {
  if (isEmpty(metrics) && isEmpty(extra)) return { kind: "heartbeat" };
  return { kind: "vitals", deviceTimeMs, metrics, extra };
}

/** Unlike Object.keys, makes no list. */
function isEmpty(record: object): boolean {
  for (const _key in record) return false;
  return true;
}

export const heartbeat = (): TrackerMessage[] => [{ kind: "heartbeat" }];

/** Free text of a device, made fit to be stored. */
export function cleanText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\ufffd]/gu, "")
    .trim()
    .slice(0, 100);
}

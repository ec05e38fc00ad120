import { randomBytes } from "node:crypto";

/** What travels between processes: which trace, and which span of it is the parent. */
export interface TraceContext {
  traceId: string;
  spanId: string;
  /** Whether whoever began the trace wants it recorded. */
  isSampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The header of W3C Trace Context. Undefined: it is absent or malformed, and a trace begins here. */
export function parseTraceparent(text: string | null | undefined): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(text ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;

export const newTraceId = (): string => randomBytes(16).toString("hex");

export const newSpanId = (): string => randomBytes(8).toString("hex");

import type { ErrorCode } from "./schemas.ts";

/** What stands beside code and text in the bodies of some codes. */
export interface ErrorDetails {
  validation_error: { errors: Record<string, string[]> };
  insufficient_scope: { required_scopes: string[] };
  feature_not_enabled: { feature: string };
  command_queue_full: { queue_limit: number; queue_length: number };
  throttled: { violated_policies: string[] };
  cursor_expired: { oldest_available_cursor: string };
}

type DetailsFor<Code extends string> = Code extends keyof ErrorDetails ? ErrorDetails[Code] : Record<string, unknown>;

/** Every failure of this package is one. */
export class VigilError extends Error {
  override name = "VigilError";
}

/** The service has answered with an error. */
export class ApiError<Code extends string = string> extends VigilError {
  override name = "ApiError";
  readonly status: number;
  /** Stable, for programs. A newer service may send codes that this version does not know. */
  readonly code: Code;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly details: DetailsFor<Code>;

  constructor(answer: {
    status: number;
    code: Code;
    message: string;
    requestId: string | undefined;
    retryAfterMs: number | undefined;
    details: DetailsFor<Code>;
  }) {
    super(`${answer.message} (${answer.status} ${answer.code})`);
    this.status = answer.status;
    this.code = answer.code;
    this.requestId = answer.requestId;
    this.retryAfterMs = answer.retryAfterMs;
    this.details = answer.details;
  }
}

/** No answer came: the connection was refused or broke. The cause is the error of fetch. */
export class ConnectionError extends VigilError {
  override name = "ConnectionError";
}

/** No answer came in time. */
export class TimeoutError extends VigilError {
  override name = "TimeoutError";
}

/** Narrows to an error with this code, and with it the type of `details`. */
export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is ApiError<Code> {
  return error instanceof ApiError && error.code === code;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Reads the three forms of error bodies: those of the API, of replay and of the token endpoint. */
export function toApiError(status: number, headers: Headers, text: string, nowMs: number): ApiError {
  const body = parseJson(text);
  const inner = isRecord(body) && isRecord(body.error) ? body.error : body;
  const fields = isRecord(inner) ? inner : {};
  const { code, error, detail, message, error_description, request_id, ...details } = fields;
  const found = [code, error].find((one) => typeof one === "string");
  const words = [detail, message, error_description].find((one) => typeof one === "string");
  return new ApiError({
    status,
    code: (found as string | undefined) ?? "unknown_error",
    message: (words as string | undefined) ?? `The service answered with status ${status}.`,
    requestId: typeof request_id === "string" ? request_id : (headers.get("x-request-id") ?? undefined),
    retryAfterMs: readRetryAfter(headers.get("retry-after"), nowMs),
    details,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A proxy in between answers with pages of its own.
    return undefined;
  }
}

/** Seconds, or a date of HTTP. */
export function readRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

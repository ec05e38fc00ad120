import { isTimedOut, isUnavailable } from "../db/failures.ts";
import { ApiError, internalError, serviceUnavailable, tooBusy } from "../lib/errors.ts";

/** What is thrown becomes an error of the catalog; everything unknown is internal and says nothing about itself. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isTimedOut(error)) return tooBusy();
  return isUnavailable(error) ? serviceUnavailable() : internalError();
}

const replayPath = "/api/v1/partner/outbound-events";

/** The common error body. */
export const errorBody = (error: ApiError, requestId: string): Record<string, unknown> => ({
  code: error.code,
  detail: error.message,
  request_id: requestId,
  ...error.extra,
});

/** Three shapes by path: RFC 6749 under /o/, the replay shape for GET of the replay endpoint, the common one elsewhere. */
export function errorBodyFor(
  method: string,
  path: string,
  error: ApiError,
  requestId: string,
): Record<string, unknown> {
  if (path === "/o" || path.startsWith("/o/")) {
    const names: Record<number, string> = { 500: "server_error", 503: "temporarily_unavailable" };
    return { error: names[error.status] ?? "invalid_request", error_description: error.message };
  }
  if (method === "GET" && path.replace(/\/$/, "") === replayPath) {
    return { error: { code: error.code, message: error.message, request_id: requestId, ...error.extra } };
  }
  return errorBody(error, requestId);
}

/** Every code there is, for the description: the compiler refuses an error with another. */
export const errorCodes = [
  "validation_error",
  "parse_error",
  "invalid_cursor",
  "invalid_limit",
  "invalid_filter",
  "password_not_allowed_in_partner_flow",
  "user_not_found",
  "assignment_exists",
  "owner_exists",
  "invalid_scope",
  "invitation_expired",
  "not_authenticated",
  "invalid_token",
  "invalid_credentials",
  "second_factor_required",
  "scope_not_available",
  "insufficient_scope",
  "feature_not_enabled",
  "partner_token_required",
  "role_not_allowed",
  "csrf_failed",
  "role_protected",
  "not_found",
  "assignment_not_found",
  "waveform_not_available",
  "imei_conflict",
  "terminal_id_conflict",
  "command_in_flight",
  "invitation_not_pending",
  "idempotency_in_progress",
  "last_owner",
  "cursor_expired",
  "payload_too_large",
  "file_too_large",
  "unsupported_media_type",
  "range_not_satisfiable",
  "idempotency_key_reuse",
  "throttled",
  "command_queue_full",
  "invite_rate_limited",
  "internal_error",
  "too_busy",
  "service_unavailable",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

/**
 * The catalog of API errors: one factory per documented code, and nothing else makes an ApiError.
 * The error handler of the HTTP room renders them; `extra` stands beside code and detail in the body.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    detail: string,
    extra: Record<string, unknown> = {},
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.extra = extra;
    this.headers = headers;
  }
}

/** Field messages by name; nested names are dotted, cross-field messages are under non_field_errors. */
export type FieldErrors = Record<string, string[]>;

const retryAfter = (seconds: number): Record<string, string> => ({
  "Retry-After": String(Math.max(1, Math.ceil(seconds))),
});

// 400
export const validationError = (errors: FieldErrors): ApiError =>
  new ApiError(400, "validation_error", "Invalid input.", { errors });
export const parseError = (detail = "The request body is not valid JSON."): ApiError =>
  new ApiError(400, "parse_error", detail);
export const invalidCursor = (detail = "The cursor is not valid."): ApiError =>
  new ApiError(400, "invalid_cursor", detail);
export const invalidLimit = (): ApiError =>
  new ApiError(400, "invalid_limit", "limit must be an integer from 1 to 500.");
export const invalidFilter = (): ApiError =>
  new ApiError(400, "invalid_filter", "types must name at least one event type.");
export const passwordNotAllowed = (): ApiError =>
  new ApiError(400, "password_not_allowed_in_partner_flow", "A password cannot be set in the partner flow.");
export const userNotFound = (): ApiError => new ApiError(400, "user_not_found", "User not found in this organization.");
export const assignmentExists = (): ApiError =>
  new ApiError(400, "assignment_exists", "User already has an active assignment for this device.");
export const ownerExists = (): ApiError => new ApiError(400, "owner_exists", "Device already has an active owner.");
export const invalidScope = (): ApiError =>
  new ApiError(400, "invalid_scope", "Devices can be linked only to geofences with scope device.");
export const invitationExpired = (): ApiError => new ApiError(400, "invitation_expired", "The invitation has expired.");

// 401
const bearer = (parameters = ""): Record<string, string> => ({ "WWW-Authenticate": `Bearer realm="api"${parameters}` });
export const notAuthenticated = (): ApiError =>
  new ApiError(401, "not_authenticated", "Authentication credentials were not provided.", {}, bearer());
export const invalidToken = (): ApiError => {
  const text = "The access token is invalid or has expired.";
  return new ApiError(401, "invalid_token", text, {}, bearer(`, error="invalid_token", error_description="${text}"`));
};
export const invalidCredentials = (): ApiError =>
  new ApiError(401, "invalid_credentials", "The e-mail address or password is wrong.");
export const secondFactorRequired = (): ApiError =>
  new ApiError(
    401,
    "second_factor_required",
    "A second factor is required: send the code from the authenticator app, or a recovery code, as otp.",
  );

// 403
export const scopeNotAvailable = (): ApiError =>
  new ApiError(403, "scope_not_available", "This endpoint is not part of the partner API.");
export const insufficientScope = (required: readonly string[]): ApiError =>
  new ApiError(
    403,
    "insufficient_scope",
    "The access token does not have the required scope.",
    { required_scopes: [...required] },
    bearer(`, error="insufficient_scope", scope="${required.join(" ")}"`),
  );
export const featureNotEnabled = (feature: string): ApiError =>
  new ApiError(403, "feature_not_enabled", `The feature ${feature} is not enabled.`, { feature });
export const partnerTokenRequired = (): ApiError =>
  new ApiError(403, "partner_token_required", "This endpoint requires a partner access token.");
export const roleNotAllowed = (): ApiError =>
  new ApiError(403, "role_not_allowed", "Your role does not allow this action.");
export const csrfFailed = (): ApiError =>
  new ApiError(403, "csrf_failed", "A call with the session cookie must come from the console's own origin.");
export const roleProtected = (): ApiError =>
  new ApiError(403, "role_protected", "A user with role ADMIN or OWNER cannot be changed by a partner.");

// 404
export const notFound = (detail = "Not found."): ApiError => new ApiError(404, "not_found", detail);
export const assignmentNotFound = (): ApiError =>
  new ApiError(404, "assignment_not_found", "No active assignment of this user for this device.");
export const waveformNotAvailable = (): ApiError =>
  new ApiError(404, "waveform_not_available", "The recording is still being received.");

// 409
export const imeiConflict = (): ApiError =>
  new ApiError(409, "imei_conflict", "A device with this IMEI is already registered with another organization.");
export const terminalIdConflict = (): ApiError =>
  new ApiError(409, "terminal_id_conflict", "Another device of this protocol already uses this terminal id.");
export const commandInFlight = (): ApiError =>
  new ApiError(409, "command_in_flight", "The command is already being sent and can no longer be deleted.");
export const invitationNotPending = (status: number): ApiError =>
  new ApiError(409, "invitation_not_pending", "The invitation is not pending.", { status });
export const idempotencyInProgress = (): ApiError =>
  new ApiError(
    409,
    "idempotency_in_progress",
    "The first call with this Idempotency-Key is still being processed. Try again shortly.",
    {},
    retryAfter(1),
  );
export const lastOwner = (): ApiError =>
  new ApiError(409, "last_owner", "The last owner of an organization cannot be demoted or removed.");

// 410
export const cursorExpired = (days: number, oldestAvailableCursor: string): ApiError =>
  new ApiError(410, "cursor_expired", `The cursor is older than the ${days} day retention window.`, {
    oldest_available_cursor: oldestAvailableCursor,
  });

// 413, 415, 416, 422
export const payloadTooLarge = (): ApiError =>
  new ApiError(413, "payload_too_large", "The request body is larger than 1 MB.");
export const fileTooLarge = (): ApiError => new ApiError(413, "file_too_large", "The file is larger than 10 MB.");
export const unsupportedMediaType = (detail = "The media type of the request is not supported."): ApiError =>
  new ApiError(415, "unsupported_media_type", detail);
export const rangeNotSatisfiable = (size: number): ApiError =>
  new ApiError(
    416,
    "range_not_satisfiable",
    "The requested range starts beyond the end of the recording.",
    {},
    { "Content-Range": `bytes */${size}` },
  );
export const idempotencyKeyReuse = (): ApiError =>
  new ApiError(
    422,
    "idempotency_key_reuse",
    "This Idempotency-Key was already used with a different request body. Use a new key.",
  );

// 429
export const throttled = (waitSeconds: number, violatedPolicies: readonly string[] = []): ApiError =>
  new ApiError(
    429,
    "throttled",
    `Request was throttled. Expected available in ${Math.max(1, Math.ceil(waitSeconds))} seconds.`,
    violatedPolicies.length > 0 ? { violated_policies: [...violatedPolicies] } : {},
    retryAfter(waitSeconds),
  );
export const commandQueueFull = (limit: number, length: number, waitSeconds: number): ApiError =>
  new ApiError(
    429,
    "command_queue_full",
    "The command queue of this device is full. Try again when a queued command has finished.",
    { queue_limit: limit, queue_length: length },
    retryAfter(waitSeconds),
  );
export const inviteRateLimited = (waitSeconds: number): ApiError =>
  new ApiError(
    429,
    "invite_rate_limited",
    "An invitation was already sent within the last hour.",
    {},
    retryAfter(waitSeconds),
  );

// 5xx
export const internalError = (): ApiError => new ApiError(500, "internal_error", "An internal error occurred.");
export const tooBusy = (waitSeconds = 5): ApiError =>
  new ApiError(503, "too_busy", "Too many of these calls are running. Try again shortly.", {}, retryAfter(waitSeconds));
export const serviceUnavailable = (waitSeconds = 2): ApiError =>
  new ApiError(503, "service_unavailable", "The service is temporarily unavailable.", {}, retryAfter(waitSeconds));

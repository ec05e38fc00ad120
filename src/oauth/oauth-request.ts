import { mediaType, type RawBody } from "../lib/raw-body.ts";

/** An error of the OAuth endpoints, in the words of RFC 6749. */
export class OAuthError extends Error {
  readonly status: number;
  readonly error: string;
  readonly headers: Record<string, string>;

  constructor(status: number, error: string, description: string, headers: Record<string, string> = {}) {
    super(description);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }

  static invalidRequest = (description: string): OAuthError => new OAuthError(400, "invalid_request", description);
  static unsupportedGrantType = (): OAuthError =>
    new OAuthError(400, "unsupported_grant_type", "The only supported grant type is client_credentials.");
  static invalidScope = (): OAuthError =>
    new OAuthError(400, "invalid_scope", "A requested scope is unknown or not granted to this client.");
  static invalidClient = (usedBasic: boolean): OAuthError =>
    new OAuthError(
      401,
      "invalid_client",
      "Client authentication failed.",
      usedBasic ? { "WWW-Authenticate": 'Basic realm="api"' } : {},
    );
  static methodNotAllowed = (): OAuthError =>
    new OAuthError(405, "invalid_request", "The method must be POST.", { Allow: "POST" });
  static tooManyFailures = (waitSeconds: number): OAuthError =>
    new OAuthError(429, "temporarily_unavailable", "Too many failed attempts. Try again later.", {
      "Retry-After": String(waitSeconds),
    });
  static serverError = (): OAuthError => new OAuthError(500, "server_error", "An internal error occurred.");
  static unavailable = (): OAuthError =>
    new OAuthError(503, "temporarily_unavailable", "The service is temporarily unavailable.", { "Retry-After": "2" });
}

/** Parameters of a form or JSON body. RFC 6749 3.2: a parameter without a value counts as left out, none may be repeated. */
export function readParameters(body: RawBody | undefined): Map<string, string> {
  if (!body || body.bytes.length === 0) {
    if (body?.tooLarge) throw OAuthError.invalidRequest("The body is too large.");
    return new Map();
  }
  switch (mediaType(body.contentType)) {
    case "application/x-www-form-urlencoded":
      return fromForm(body.bytes.toString("utf8"));
    case "application/json":
      return fromJson(body.bytes.toString("utf8"));
    default:
      throw OAuthError.invalidRequest("The body must be form encoded or JSON.");
  }
}

function fromForm(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (parameters.has(name)) throw OAuthError.invalidRequest("A parameter is repeated.");
    if (value !== "") parameters.set(name, value);
  }
  return parameters;
}

function fromJson(text: string): Map<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw OAuthError.invalidRequest("The body is not valid JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw OAuthError.invalidRequest("The body must be a JSON object.");
  }
  const parameters = new Map<string, string>();
  for (const [name, field] of Object.entries(value)) {
    if (field === null || field === "") continue;
    if (typeof field !== "string") throw OAuthError.invalidRequest("Parameters must be strings.");
    parameters.set(name, field);
  }
  return parameters;
}

export interface ClientCredentials {
  clientId: string | undefined;
  clientSecret: string | undefined;
  usedBasic: boolean;
}

/**
 * Basic credentials are form-decoded (RFC 6749 2.3.1). Swagger UI sends them raw; ids and secrets are made only of characters
 * that decode to themselves, so both work. A NUL cannot be stored, hence cannot match, and is dropped here.
 */
export function readClientCredentials(
  authorization: string | undefined,
  parameters: ReadonlyMap<string, string>,
): ClientCredentials {
  const basic = /^basic +([A-Za-z0-9+/=_-]*) *$/i.exec(authorization ?? "");
  const clean = (text: string | undefined): string | undefined =>
    text === undefined || text.includes("\0") ? undefined : text;
  if (basic) {
    const [id, ...secret] = Buffer.from(basic[1] as string, "base64")
      .toString("utf8")
      .split(":");
    return {
      clientId: clean(formDecode(id ?? "")),
      clientSecret: clean(formDecode(secret.join(":"))),
      usedBasic: true,
    };
  }
  return {
    clientId: clean(parameters.get("client_id")),
    clientSecret: clean(parameters.get("client_secret")),
    usedBasic: /^basic\b/i.test(authorization ?? ""),
  };
}

function formDecode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

type Json = Record<string, unknown>;

const text = (description: string, example: string): Json => ({ description, schema: { type: "string", example } });
const seconds = (description: string): Json => ({ description, schema: { type: "integer" } });

/** The headers of answers, named once for all operations. */
export const headerComponents: Record<string, Json> = {
  "X-Request-Id": {
    description: "The id of this call, also in error bodies and the audit log.",
    schema: { type: "string" },
  },
  "Retry-After": seconds("Seconds to wait before retrying the call."),
  "RateLimit-Policy": text(
    "The quota (q) and the seconds (w) of each window.",
    '"per_minute";q=600;w=60, "per_hour";q=20000;w=3600',
  ),
  RateLimit: text(
    "What is left (r) of each window, and the seconds (t) until it resets.",
    '"per_minute";r=599;t=60, "per_hour";r=19999;t=3600',
  ),
  "X-RateLimit-Limit": seconds("The quota of the window with the fewest calls left."),
  "X-RateLimit-Remaining": seconds("Calls left in that window."),
  "X-RateLimit-Reset": seconds("Seconds until that window resets."),
};

const rateHeaders = Object.keys(headerComponents).filter((name) => name.includes("RateLimit"));

/** Every answer to a valid token says what is left of the quota; 429 and 503 say when to come again. */
export function headersOf(status: number): Json {
  const names = ["X-Request-Id"];
  if (status === 429 || status === 503) names.push("Retry-After");
  if (status !== 401 && status !== 503) names.push(...rateHeaders);
  return headerRefs(names);
}

export const headerRefs = (names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

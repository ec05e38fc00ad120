/** How much of an answer is kept. */
export const maxAnswerTextBytes = 500;

/** What a receiver that echoes its request or its configuration might show. */
const secrets: readonly [RegExp, string][] = [
  [/whsec_[\w+/=-]*/g, "whsec_…"],
  [/\b(vs|pt|rt)_[\w-]{8,}/g, "$1_…"],
  [/\b(bearer|basic)\s+[\w.~+/=-]+/gi, "$1 …"],
  [
    /("?\b(?:password|passwd|secret|client_secret|api_?key|authorization|token)"?\s*[:=]\s*)("[^"]*"?|[^\s,;&}]+)/gi,
    "$1…",
  ],
];

/**
 * The beginning of an answer as one reads it: whole characters, no control characters but line breaks, and nothing that looks
 * like a secret. Null: there was no body.
 */
export function answerText(bytes: Buffer): string | null {
  if (bytes.length === 0) return null;
  const cut = bytes.subarray(0, maxAnswerTextBytes);
  let text = new TextDecoder("utf-8").decode(cut, { stream: bytes.length > maxAnswerTextBytes });
  text = text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
  for (const [pattern, shown] of secrets) text = text.replace(pattern, shown);
  return text.trim() || null;
}

import type { SendMailOptions } from "nodemailer";

/** One way for a message out of the house. */
export interface MailCarrier {
  /** Resolves when the message is in safe hands. `id` and `attempt` name the mail and the claim. */
  deliver(message: SendMailOptions, claim: { id: string; attempt: number }): Promise<void>;
  /** Deliveries that are still running fail. */
  close(): void;
}

export type DeliveryOutcome =
  | { kind: "sent" }
  /** May be tried again. */
  | { kind: "failed"; error: string }
  /** The recipient or the message is refused for good. */
  | { kind: "refused"; error: string };

interface SmtpFailure {
  code?: unknown;
  originalCode?: unknown;
  command?: unknown;
  response?: unknown;
  responseCode?: unknown;
}

/** Authentication or encryption is missing: the operator can mend it, and the mail can still go out. */
const setupReplies: readonly unknown[] = [530, 534, 535, 538];

export function outcomeOfFailure(error: unknown): DeliveryOutcome {
  const { command, responseCode } = (error ?? {}) as SmtpFailure;
  const isAboutMail = command === "RCPT TO" || command === "DATA";
  // 503 is about the order of commands: the connection is to blame, not the mail.
  const isPermanent = typeof responseCode === "number" && responseCode >= 500 && responseCode !== 503;
  const isRefused = isAboutMail && isPermanent && !setupReplies.includes(responseCode);
  return { kind: isRefused ? "refused" : "failed", error: describeFailure(error) };
}

/** Codes only. What a server answers may quote the address or, when a filter dislikes it, the link with the token. */
function describeFailure(error: unknown): string {
  const { code, originalCode, command, response, responseCode } = (error ?? {}) as SmtpFailure;
  const enhanced = typeof response === "string" ? /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1] : undefined;
  const parts = [code, originalCode, command, responseCode, enhanced].flatMap((part) =>
    part === undefined || part === false ? [] : String(part),
  );
  if (parts.length > 0) return parts.join(" ");
  return error instanceof Error ? error.message : "unknown error";
}

import type { Deduplication } from "./deduplication.ts";
import type { OutboundEvent } from "./schemas.ts";
import { type VerifyOptions, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from "./verify-webhook.ts";

export interface ReceiverOptions extends VerifyOptions {
  /** One, or both while a secret is being rotated. A function is asked for each request. */
  secrets: string | readonly string[] | (() => string | readonly string[] | Promise<string | readonly string[]>);
  /** Called with verified events only. The answer is 2xx once it resolves, so store the event and work later. */
  handle(event: OutboundEvent): unknown;
  deduplication?: Deduplication | undefined;
  /** Refused requests and failures of the handler. */
  onError?: ((error: unknown, event: OutboundEvent | undefined) => void) | undefined;
}

export interface ReceiverAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Knows no framework: raw bytes and headers in, an answer out. */
export type Receiver = (rawBody: Uint8Array | string, headers: WebhookHeaders) => Promise<ReceiverAnswer>;

/** Events are far smaller; more than this is not read. */
export const maxWebhookBytes = 1_048_576;

export const answerWith = (status: number, text: string, headers: Record<string, string> = {}): ReceiverAnswer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  body: text,
});

export function makeReceiver(options: ReceiverOptions): Receiver {
  const { secrets, handle, deduplication, onError } = options;

  async function once(event: OutboundEvent): Promise<ReceiverAnswer> {
    const state = (await deduplication?.begin(event.id)) ?? "new";
    if (state === "done") return answerWith(200, "already handled");
    // Not 2xx: should the other attempt fail, the service has to come again.
    if (state === "in_progress") return answerWith(503, "in progress", { "retry-after": "5" });
    try {
      await handle(event);
    } catch (error) {
      await deduplication?.failed(event.id);
      throw error;
    }
    await deduplication?.done(event.id);
    return answerWith(200, "ok");
  }

  return async (rawBody, headers) => {
    let event: OutboundEvent | undefined;
    try {
      event = verifyWebhook(rawBody, headers, typeof secrets === "function" ? await secrets() : secrets, options);
      return await once(event);
    } catch (error) {
      onError?.(error, event);
      // The reason is for the log of the receiver, not for whoever has sent this.
      if (error instanceof WebhookVerificationError) return answerWith(401, "not verified");
      return answerWith(500, "failed");
    }
  };
}

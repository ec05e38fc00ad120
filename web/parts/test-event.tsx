import { useState } from "preact/hooks";
import { visibleTypes } from "../../src/outbox/outbound-gate.ts";
import type { WebhookEventType } from "../../src/outbox/webhook-event-types.ts";
import { post } from "../api/client.ts";
import type { Integration, TestDelivery } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { deliveryTexts as texts } from "../texts/deliveries.ts";
import { showNumber } from "../texts/format.ts";
import { Choice } from "./field.tsx";
import { Failure } from "./states.tsx";

const outcomeText = ({ delivered, status_code, duration_ms, error }: TestDelivery): string =>
  delivered
    ? texts("testDelivered", { status: status_code ?? "–", ms: showNumber(duration_ms, 0) })
    : texts("testFailed", { reason: error ?? "–" });

/** What it receives, and the sample that anybody may get. */
const typesFor = (integration: Integration): WebhookEventType[] => [
  "webhook.test",
  ...visibleTypes({
    scopes: integration.scopes,
    webhookEventTypes: integration.webhook_event_types,
    messagingEnabled: integration.messaging_enabled,
  }).filter((type) => type !== "webhook.test"),
];

/** Sends a signed sample and says what the receiver answered. */
export function TestEvent({ path, integration }: { path: string; integration: Integration }) {
  const [type, setType] = useState<string>("webhook.test");
  const [outcome, setOutcome] = useState<TestDelivery>();
  const submission = useSubmit(["type", "status", "webhook_url"]);
  const problem = submission.problem("type") ?? submission.problem("status") ?? submission.problem("webhook_url");
  async function send(event: Event): Promise<void> {
    event.preventDefault();
    setOutcome(undefined);
    await submission.run(async () => setOutcome(await post<TestDelivery>(`${path}test/`, { type })));
  }
  return (
    <section class="card" aria-labelledby="test">
      <h2 id="test">{texts("testTitle")}</h2>
      <form class="row" onSubmit={(event) => void send(event)}>
        <Choice
          label={texts("type")}
          value={type}
          onChange={setType}
          options={typesFor(integration).map((one) => [one, one] as const)}
        />
        <button type="submit" class="field" disabled={submission.isBusy}>
          {texts("test")}
        </button>
      </form>
      <p class={outcome && !outcome.delivered ? "bad" : "notice"} role="status">
        {outcome ? outcomeText(outcome) : ""}
      </p>
      {problem && <p class="problem">{problem}</p>}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
    </section>
  );
}

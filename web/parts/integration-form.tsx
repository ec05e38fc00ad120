import { useState } from "preact/hooks";
import { allScopes } from "../../src/oauth/scopes.ts";
import { allWebhookEventTypes } from "../../src/outbox/webhook-event-types.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { integrationTexts as texts } from "../texts/integrations.ts";
import { Check, Field } from "./field.tsx";
import { bodyOf, type IntegrationDraft } from "./integration-draft.ts";
import { Failure } from "./states.tsx";

const shownFields = ["name", "scopes", "webhook_url", "webhook_event_types", "webhook_device_filter", "link_hosts"];

interface IntegrationFormProps {
  initial: IntegrationDraft;
  send(body: ReturnType<typeof bodyOf>): Promise<void>;
  onCancel?: () => void;
}

export function IntegrationForm({ initial, send, onCancel }: IntegrationFormProps) {
  const [draft, setDraft] = useState(initial);
  const [isSaved, setSaved] = useState(false);
  const submission = useSubmit(shownFields);
  const change = (changes: Partial<IntegrationDraft>): void => {
    setSaved(false);
    setDraft({ ...draft, ...changes });
  };
  async function save(event: Event): Promise<void> {
    event.preventDefault();
    setSaved(await submission.run(() => send(bodyOf(draft))));
  }
  return (
    <form onSubmit={(event) => void save(event)}>
      <div class="columns">
        <Field
          label={common("name")}
          required
          maxLength={200}
          value={draft.name}
          onInput={(name) => change({ name })}
          problem={submission.problem("name")}
        />
        <Field
          label={texts("webhookUrl")}
          type="url"
          hint={texts("urlHint")}
          value={draft.webhookUrl}
          onInput={(webhookUrl) => change({ webhookUrl })}
          problem={submission.problem("webhook_url")}
        />
        <Field
          label={texts("filter")}
          hint={texts("listHint")}
          value={draft.devices}
          onInput={(devices) => change({ devices })}
          problem={submission.problem("webhook_device_filter")}
        />
        <Field
          label={texts("hosts")}
          hint={texts("listHint")}
          value={draft.hosts}
          onInput={(hosts) => change({ hosts })}
          problem={submission.problem("link_hosts")}
        />
      </div>
      <Words
        legend={texts("scopes")}
        words={allScopes}
        chosen={draft.scopes}
        onChange={(scopes) => change({ scopes })}
        all={texts("allScopes")}
        problem={submission.problem("scopes")}
      />
      <Words
        legend={texts("types")}
        words={allWebhookEventTypes}
        chosen={draft.types}
        onChange={(types) => change({ types })}
        hint={texts("typesHint")}
        problem={submission.problem("webhook_event_types")}
      />
      <Check
        label={texts("messaging")}
        checked={draft.hasMessaging}
        onChange={(hasMessaging) => change({ hasMessaging })}
      />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {common("save")}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            {common("cancel")}
          </button>
        )}
        <span class="notice" role="status">
          {isSaved ? common("saved") : ""}
        </span>
      </div>
    </form>
  );
}

interface WordsProps {
  legend: string;
  words: readonly string[];
  chosen: readonly string[];
  onChange(chosen: string[]): void;
  /** The name of a box that chooses all or none. */
  all?: string;
  hint?: string;
  problem?: string | undefined;
}

function Words({ legend, words, chosen, onChange, all, hint, problem }: WordsProps) {
  const toggle = (word: string, isOn: boolean): void =>
    onChange(words.filter((one) => (one === word ? isOn : chosen.includes(one))));
  return (
    <fieldset>
      <legend>{legend}</legend>
      {hint && <p class="hint">{hint}</p>}
      {all && (
        <Check
          label={all}
          checked={words.every((word) => chosen.includes(word))}
          onChange={(isOn) => onChange(isOn ? [...words] : [])}
        />
      )}
      <div class="columns">
        {words.map((word) => (
          <Check key={word} label={word} checked={chosen.includes(word)} onChange={(isOn) => toggle(word, isOn)} />
        ))}
      </div>
      {problem && <p class="problem">{problem}</p>}
    </fieldset>
  );
}

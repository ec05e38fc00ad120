import { useState } from "preact/hooks";
import { organizationFeatures } from "../../src/resources/organizations/organization-features.ts";
import { retainedTables } from "../../src/resources/organizations/retention.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { localeNames, locales } from "../texts/locale.ts";
import { operatorRecordTexts as texts } from "../texts/operator-records.ts";
import { organizationTexts } from "../texts/organization.ts";
import { Check, Choice, Field } from "./field.tsx";
import { type OrganizationDraft, organizationBody } from "./organization-draft.ts";
import { Failure } from "./states.tsx";
import { ZoneField } from "./zone-field.tsx";

interface OrganizationFormProps {
  initial: OrganizationDraft;
  send(body: ReturnType<typeof organizationBody>): Promise<void>;
  onCancel(): void;
}

const shown = ["name", "slug", "timezone", "rate_limits", "retention", "gateway_networks", "share_domains"];

/** The settings of an organization, as `vigil org set` takes them. */
export function OrganizationForm({ initial, send, onCancel }: OrganizationFormProps) {
  const [draft, setDraft] = useState(initial);
  const { isBusy, failure, problem, run } = useSubmit(shown);
  const set = (changes: Partial<OrganizationDraft>): void => setDraft({ ...draft, ...changes });
  const languages = locales.map((one) => [one as string, localeNames[one]] as const);
  const isOther = !languages.some(([one]) => one === draft.default_locale);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void run(() => send(organizationBody(draft)));
      }}
    >
      <div class="columns">
        <Field
          label={common("name")}
          required
          maxLength={200}
          value={draft.name}
          onInput={(name) => set({ name })}
          problem={problem("name")}
        />
        <Field
          label={organizationTexts("slug")}
          hint={texts("slugHint")}
          maxLength={50}
          value={draft.slug}
          onInput={(slug) => set({ slug })}
          problem={problem("slug")}
        />
        <ZoneField value={draft.timezone} onInput={(timezone) => set({ timezone })} problem={problem("timezone")} />
        <Choice
          label={organizationTexts("language")}
          value={draft.default_locale}
          onChange={(default_locale) => set({ default_locale })}
          options={isOther ? [...languages, [draft.default_locale, draft.default_locale]] : languages}
        />
        <Field
          label={texts("perMinute")}
          type="number"
          min={1}
          required
          value={draft.perMinute}
          onInput={(perMinute) => set({ perMinute })}
          problem={problem("rate_limits.per_minute")}
        />
        <Field
          label={texts("perHour")}
          type="number"
          min={1}
          required
          value={draft.perHour}
          onInput={(perHour) => set({ perHour })}
          problem={problem("rate_limits.per_hour")}
        />
        <Field
          label={texts("networks")}
          hint={texts("networksHint")}
          value={draft.networks}
          onInput={(networks) => set({ networks })}
          problem={problem("gateway_networks")}
        />
        <Field
          label={texts("domains")}
          hint={texts("domainsHint")}
          value={draft.domains}
          onInput={(domains) => set({ domains })}
          problem={problem("share_domains")}
        />
      </div>
      <fieldset>
        <legend>{organizationTexts("features")}</legend>
        {organizationFeatures.map((feature) => (
          <Check
            key={feature}
            label={`${organizationTexts(feature)} (${feature})`}
            checked={draft.features.includes(feature)}
            onChange={(isOn) =>
              set({ features: isOn ? [...draft.features, feature] : draft.features.filter((one) => one !== feature) })
            }
          />
        ))}
      </fieldset>
      <fieldset>
        <legend>{organizationTexts("retention")}</legend>
        <p class="hint">{texts("retentionHint")}</p>
        <div class="columns">
          {retainedTables.map((table) => (
            <Field
              key={table}
              label={organizationTexts(table)}
              type="number"
              min={1}
              value={draft.retention[table] ?? ""}
              onInput={(days) => set({ retention: { ...draft.retention, [table]: days } })}
              problem={problem(`retention.${table}`)}
            />
          ))}
        </div>
      </fieldset>
      {failure !== undefined && <Failure error={failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={isBusy}>
          {common("save")}
        </button>
        <button type="button" onClick={onCancel}>
          {common("cancel")}
        </button>
      </div>
    </form>
  );
}

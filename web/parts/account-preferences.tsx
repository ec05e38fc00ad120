import { useState } from "preact/hooks";
import { patch, post } from "../api/client.ts";
import type { Preferences } from "../api/types.ts";
import { applyPreferences, loadSession, type Session } from "../state/session.ts";
import { useSubmit } from "../state/submit.ts";
import { accountTexts as texts } from "../texts/account.ts";
import { common } from "../texts/common.ts";
import { localeNames, locales } from "../texts/locale.ts";
import { Choice } from "./field.tsx";
import { Failure } from "./states.tsx";
import { ZoneField } from "./zone-field.tsx";

/** Language, time zone and alarm mails of the reader. */
export function AccountPreferences({ session: { me, preferences } }: { session: Session }) {
  const submission = useSubmit(["timezone"]);
  const [locale, setLocale] = useState(preferences.locale ?? "");
  const [timezone, setTimezone] = useState(preferences.timezone ?? "");
  const [mail, setMail] = useState(preferences.alarm_mail);
  const [notice, setNotice] = useState("");

  async function save(): Promise<void> {
    const stored = await patch<Preferences>("/console/api/me/", {
      locale: locale === "" ? null : locale,
      timezone: timezone.trim() === "" ? null : timezone.trim(),
      alarm_mail: mail,
    });
    applyPreferences(stored);
    setNotice(common("saved"));
  }
  return (
    <form
      class="card"
      aria-labelledby="preferences"
      onSubmit={(event) => {
        event.preventDefault();
        setNotice("");
        void submission.run(save);
      }}
    >
      <h2 id="preferences">{texts("preferences")}</h2>
      <Choice
        label={texts("language")}
        value={locale}
        onChange={setLocale}
        options={[["", texts("asBrowser")], ...locales.map((one) => [one, localeNames[one]] as const)]}
      />
      <ZoneField
        value={timezone}
        onInput={setTimezone}
        hint={texts("zoneHint")}
        placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
        problem={submission.problem("timezone")}
      />
      {!me.operator && (
        <Choice<Preferences["alarm_mail"]>
          label={texts("alarmMail")}
          hint={texts("mailHint", { email: me.user.email })}
          value={mail}
          onChange={setMail}
          options={[
            ["off", texts("off")],
            ["critical", texts("critical")],
            ["warning", texts("warning")],
          ]}
        />
      )}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {common("save")}
        </button>
        <p class="saved" role="status">
          {notice}
        </p>
      </div>
    </form>
  );
}

/** For people who are members of several organizations. */
export function OrganizationSwitch({ session: { me, preferences } }: { session: Session }) {
  const submission = useSubmit();
  const [slug, setSlug] = useState(me.organization?.slug ?? "");
  if (preferences.organizations.length < 2) return null;
  const move = async (): Promise<void> => {
    await post("/console/api/session/organization/", { organization: slug });
    await loadSession();
  };
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault();
        void submission.run(move);
      }}
    >
      <Choice
        label={texts("organization")}
        value={slug}
        onChange={setSlug}
        options={preferences.organizations.map((one) => [one.slug, one.name] as const)}
      />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <button type="submit" disabled={submission.isBusy || slug === me.organization?.slug}>
        {texts("switch")}
      </button>
    </form>
  );
}

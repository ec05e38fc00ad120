import type { ComponentChildren } from "preact";
import { retainedTables } from "../../src/resources/organizations/retention.ts";
import { get } from "../api/client.ts";
import type { OwnOrganization } from "../api/types.ts";
import { AdminPage } from "../parts/admin-page.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { useLoaded } from "../state/loaded.ts";
import { session } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { showNumber } from "../texts/format.ts";
import { isLocale, localeNames } from "../texts/locale.ts";
import { organizationTexts as texts } from "../texts/organization.ts";
import { peopleTexts } from "../texts/people.ts";

const path = "/console/api/organization/";

/** What the organization is called, what it may do, and how long it keeps what happened. */
export function OrganizationPage() {
  return (
    <AdminPage title={common("organization")}>
      <Settings />
    </AdminPage>
  );
}

function Settings() {
  const role = useStore(session)?.me.role;
  const own = useLoaded(path, () => get<OwnOrganization>(path));
  if (own.kind === "loading") return <Loading />;
  if (own.kind === "failed") return <Failure error={own.error} onRetry={own.reload} />;
  const { name, slug, timezone, default_locale, features, retention, rate_limits } = own.value;
  return (
    <section class="card" aria-label={common("organization")}>
      <dl class="rule-facts">
        <Fact title={common("name")}>{name}</Fact>
        <Fact title={texts("slug")}>
          <code>{slug}</code>
        </Fact>
        <Fact title={texts("zone")}>{timezone}</Fact>
        <Fact title={texts("language")}>{isLocale(default_locale) ? localeNames[default_locale] : default_locale}</Fact>
        <Fact title={texts("features")}>
          {features.length === 0
            ? texts("noFeatures")
            : features.map((feature) => <p key={feature}>{texts(feature)}</p>)}
        </Fact>
        <Fact title={texts("retention")}>
          {retainedTables.map((table) => (
            <p key={table}>
              {texts(table)}:{" "}
              {retention[table] === undefined
                ? texts("forEver")
                : texts("days", { count: showNumber(retention[table], 0) })}
            </p>
          ))}
        </Fact>
        <Fact title={texts("limits")}>
          {texts("limitsValue", {
            perMinute: showNumber(rate_limits.per_minute, 0),
            perHour: showNumber(rate_limits.per_hour, 0),
          })}
        </Fact>
        {role && <Fact title={texts("role")}>{peopleTexts(role)}</Fact>}
      </dl>
      <p class="hint">{texts("hint")}</p>
    </section>
  );
}

const Fact = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <div>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

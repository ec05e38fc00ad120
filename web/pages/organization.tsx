import { AdminPage } from "../parts/admin-page.tsx";
import { session } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { organizationTexts as texts } from "../texts/organization.ts";
import { peopleTexts } from "../texts/people.ts";

/** What the organization is called and where its days begin. */
export function OrganizationPage() {
  const me = useStore(session)?.me;
  return (
    <AdminPage title={common("organization")}>
      {me && (
        <section class="card" aria-label={common("organization")}>
          <dl class="rule-facts">
            <div>
              <dt>{common("name")}</dt>
              <dd>{me.organization.name}</dd>
            </div>
            <div>
              <dt>{texts("slug")}</dt>
              <dd>
                <code>{me.organization.slug}</code>
              </dd>
            </div>
            <div>
              <dt>{texts("zone")}</dt>
              <dd>{me.organization.timezone}</dd>
            </div>
            <div>
              <dt>{texts("role")}</dt>
              <dd>{peopleTexts(me.role)}</dd>
            </div>
          </dl>
          <p class="hint">{texts("hint")}</p>
        </section>
      )}
    </AdminPage>
  );
}

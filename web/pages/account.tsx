import { useState } from "preact/hooks";
import { AccountFactor } from "../parts/account-factor.tsx";
import { AccountPassword } from "../parts/account-password.tsx";
import { AccountPreferences, OrganizationSwitch } from "../parts/account-preferences.tsx";
import { AccountSessions } from "../parts/account-sessions.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { session } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { common } from "../texts/common.ts";
import { peopleTexts } from "../texts/people.ts";
import "../styles/rules.css";

/** What belongs to the reader alone. */
export function AccountPage() {
  const signedIn = useStore(session);
  const [round, setRound] = useState(0);
  if (!signedIn) return null;
  const { user, organization, role } = signedIn.me;
  return (
    <div class="account">
      <PageTitle>{common("account")}</PageTitle>
      <p>
        <strong>{user.full_name || user.email}</strong>
        {user.full_name !== "" && ` · ${user.email}`}
        {organization && role && ` · ${organization.name} · ${peopleTexts(role)}`}
      </p>
      <AccountPreferences session={signedIn} />
      {organization && <OrganizationSwitch key={organization.slug} session={signedIn} />}
      <AccountPassword email={user.email} onChanged={() => setRound(round + 1)} />
      <AccountFactor />
      <AccountSessions round={round} />
    </div>
  );
}

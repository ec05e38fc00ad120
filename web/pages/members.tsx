import { AdminPage } from "../parts/admin-page.tsx";
import { Invitations } from "../parts/invitations.tsx";
import { Link } from "../parts/link.tsx";
import { MemberList } from "../parts/member-list.tsx";
import { accessTexts } from "../texts/access.ts";
import { common } from "../texts/common.ts";

/** Who belongs to the organization, with which role, and who is invited. */
export const MembersPage = () => (
  <AdminPage title={common("members")}>
    <p>
      <Link to="/console/members/access">{accessTexts("title")}</Link>
    </p>
    <MemberList />
    <Invitations />
  </AdminPage>
);

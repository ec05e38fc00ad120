import { AdminPage } from "../parts/admin-page.tsx";
import { Invitations } from "../parts/invitations.tsx";
import { MemberList } from "../parts/member-list.tsx";
import { common } from "../texts/common.ts";

/** Who belongs to the organization, with which role, and who is invited. */
export const MembersPage = () => (
  <AdminPage title={common("members")}>
    <MemberList />
    <Invitations />
  </AdminPage>
);

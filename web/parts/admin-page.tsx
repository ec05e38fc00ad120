import type { ComponentChildren } from "preact";
import { hasRole } from "../state/session.ts";
import { membersTexts as texts } from "../texts/members.ts";
import { PageTitle } from "./page-title.tsx";
import { Empty } from "./states.tsx";
import "../styles/rules.css";
import "../styles/admin.css";

/** A page for those who run the organization. Others are told so instead of a list of refusals. */
export function AdminPage({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <PageTitle>{title}</PageTitle>
      {hasRole("ADMIN") ? children : <Empty>{texts("adminsOnly")}</Empty>}
    </>
  );
}

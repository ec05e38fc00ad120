import type { ComponentChildren } from "preact";
import { hasRole } from "../state/session.ts";
import { membersTexts as texts } from "../texts/members.ts";
import { PageTitle } from "./page-title.tsx";
import { Empty } from "./states.tsx";
import "../styles/rules.css";
import "../styles/admin.css";

interface AdminPageProps {
  title: string;
  /** Beside the heading: what one most often comes for. */
  action?: ComponentChildren;
  children: ComponentChildren;
}

/** A page for those who run the organization. Others are told so instead of a list of refusals. */
export function AdminPage({ title, action, children }: AdminPageProps) {
  const isAllowed = hasRole("ADMIN");
  return (
    <>
      {action && isAllowed ? (
        <div class="head">
          <PageTitle>{title}</PageTitle>
          {action}
        </div>
      ) : (
        <PageTitle>{title}</PageTitle>
      )}
      {isAllowed ? children : <Empty>{texts("adminsOnly")}</Empty>}
    </>
  );
}

import { Link } from "../parts/link.tsx";
import { OperatorDatabase } from "../parts/operator-database.tsx";
import { OperatorDeliveries } from "../parts/operator-deliveries.tsx";
import { OperatorDevices } from "../parts/operator-devices.tsx";
import { OperatorLog } from "../parts/operator-log.tsx";
import { OperatorOrganizations } from "../parts/operator-organizations.tsx";
import { OperatorOverview } from "../parts/operator-overview.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { Empty } from "../parts/states.tsx";
import { useQuery } from "../state/router.ts";
import { isOperator } from "../state/session.ts";
import { common } from "../texts/common.ts";
import { operatorTexts as texts } from "../texts/operator.ts";
import "../styles/rules.css";
import "../styles/admin.css";
import "../styles/operator.css";

const views = {
  overview: OperatorOverview,
  organizations: OperatorOrganizations,
  deliveries: OperatorDeliveries,
  devices: OperatorDevices,
  database: OperatorDatabase,
  log: OperatorLog,
} as const;
type View = keyof typeof views;

const isView = (text: string | null): text is View => text !== null && Object.hasOwn(views, text);

/** How the service is doing, for those who run it. */
export function OperatorPage() {
  const asked = useQuery().get("view");
  if (!isOperator()) {
    return (
      <>
        <PageTitle>{common("operator")}</PageTitle>
        <Empty>{texts("operatorsOnly")}</Empty>
      </>
    );
  }
  const view = isView(asked) ? asked : "overview";
  const Shown = views[view];
  return (
    <>
      <PageTitle>{common("operator")}</PageTitle>
      <nav class="views" aria-label={common("operator")}>
        {(Object.keys(views) as View[]).map((one) => (
          <Link
            key={one}
            to={one === "overview" ? "/console/operator" : `/console/operator?view=${one}`}
            isCurrent={one === view}
          >
            {texts(one)}
          </Link>
        ))}
      </nav>
      <Shown key={view} />
    </>
  );
}

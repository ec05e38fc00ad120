import { useRef, useState } from "preact/hooks";
import { metricKeys } from "../../src/codecs/metric-keys.ts";
import { getAll } from "../api/client.ts";
import type { AlertThreshold } from "../api/types.ts";
import { nameOf } from "../parts/alarm-card.tsx";
import { oneOf } from "../parts/device-filter.ts";
import { Choice } from "../parts/field.tsx";
import { PageTitle } from "../parts/page-title.tsx";
import { readNames } from "../parts/picker-sources.ts";
import { ResultingRules } from "../parts/resulting-rules.tsx";
import { Empty, Failure, Loading } from "../parts/states.tsx";
import { ThresholdForm } from "../parts/threshold-form.tsx";
import { useDevices } from "../state/fleet.ts";
import { useLoaded } from "../state/loaded.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { common } from "../texts/common.ts";
import { showNumber } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { describeBounds, thresholdTexts as texts } from "../texts/thresholds.ts";
import "../styles/rules.css";

const rowsAtOnce = 100;
const metricFilters = ["", ...metricKeys] as const;

/** All thresholds one may see, and what of them counts for a device. */
export function ThresholdsPage() {
  const thresholds = useLoaded("thresholds", () =>
    getAll<AlertThreshold>("/api/v1/alert-thresholds/?page_size=200&ordering=metric_key,scope"),
  );
  const [edited, setEdited] = useState<AlertThreshold | "new" | undefined>();
  const [rowCount, setRowCount] = useState(rowsAtOnce);
  const [notice, setNotice] = useState("");
  const top = useRef<HTMLDivElement>(null);
  const metric = oneOf(metricFilters, useQuery().get("metric"));
  const all = thresholds.kind === "ready" ? thresholds.value : [];
  const rows = all.filter((row) => metric === "" || row.metric_key === metric);
  const shown = rows.slice(0, rowCount);
  const known = useDevices(shown.flatMap(({ device }) => device ?? []));
  const ids = [...new Set(shown.flatMap(({ user }) => user ?? []))];
  const people = useLoaded(ids.join(), () => readNames(ids));
  const names: ReadonlyMap<string, string> = people.kind === "ready" ? people.value : new Map();

  const edit = (threshold: AlertThreshold | "new"): void => {
    setNotice("");
    setEdited(threshold);
    top.current?.scrollIntoView({ block: "start" });
  };
  const targetOf = ({ scope, device, user }: AlertThreshold): string => {
    if (device !== null) return nameOf(known.get(device), device);
    return user === null ? texts(scope) : (names.get(user) ?? texts(scope));
  };
  return (
    <div ref={top}>
      <div class="head">
        <PageTitle>{common("thresholds")}</PageTitle>
        {hasRole("ADMIN") && edited === undefined && (
          <button type="button" class="primary" onClick={() => edit("new")}>
            {texts("new")}
          </button>
        )}
      </div>
      <p class="saved" role="status">
        {notice}
      </p>
      {edited !== undefined && (
        <ThresholdForm
          key={edited === "new" ? "new" : edited.id}
          threshold={edited === "new" ? undefined : edited}
          names={names}
          onDone={() => {
            setNotice(common("saved"));
            setEdited(undefined);
            if (thresholds.kind !== "loading") thresholds.reload();
          }}
          onCancel={() => setEdited(undefined)}
        />
      )}
      {thresholds.kind === "loading" && <Loading />}
      {thresholds.kind === "failed" && <Failure error={thresholds.error} onRetry={thresholds.reload} />}
      {thresholds.kind === "ready" && all.length === 0 && <Empty>{texts("none")}</Empty>}
      {all.length > 0 && (
        <div class="filters">
          <Choice
            label={texts("filterMetric")}
            value={metric}
            onChange={(value) => setQuery({ metric: value })}
            options={metricFilters.map((key) => [key, key === "" ? texts("all") : metricName(key)] as const)}
          />
        </div>
      )}
      {rows.length > 0 && (
        <table class="stack">
          <thead>
            <tr>
              <th scope="col">{texts("metric")}</th>
              <th scope="col">{texts("scope")}</th>
              <th scope="col">{texts("severity")}</th>
              <th scope="col">{texts("mode")}</th>
              {hasRole("ADMIN") && <td />}
            </tr>
          </thead>
          <tbody>
            {shown.map((row) => (
              <ThresholdRow key={row.id} threshold={row} target={targetOf(row)} onEdit={edit} />
            ))}
          </tbody>
        </table>
      )}
      {rows.length > rowCount && (
        <button type="button" onClick={() => setRowCount(rowCount + rowsAtOnce)}>
          {common("more")}
        </button>
      )}
      {thresholds.kind === "ready" && <ResultingRules thresholds={all} />}
    </div>
  );
}

interface ThresholdRowProps {
  threshold: AlertThreshold;
  target: string;
  onEdit(threshold: AlertThreshold): void;
}

const severityDots = { Info: "info", Warning: "warning", Critical: "critical" } as const;

function ThresholdRow({ threshold, target, onEdit }: ThresholdRowProps) {
  const { metric_key: metric, low, high, severity, override_mode, is_active } = threshold;
  const show = (value: number): string => `${showNumber(value)} ${metricUnit(metric)}`.trim();
  return (
    <tr>
      <td>
        <strong>{metricName(metric)}</strong> {describeBounds(low, high, show)}
        {!is_active && <small> · {texts("inactive")}</small>}
      </td>
      <td data-label={texts("scope")}>{target}</td>
      <td data-label={texts("severity")}>
        <span class={`dot ${severityDots[severity]}`} aria-hidden="true" /> {texts(severity)}
      </td>
      <td data-label={texts("mode")}>{texts(override_mode)}</td>
      {hasRole("ADMIN") && (
        <td class="row-action">
          <button
            type="button"
            class="plain"
            aria-label={`${texts("editThreshold", { name: metricName(metric) })}: ${target}`}
            onClick={() => onEdit(threshold)}
          >
            {common("edit")}
          </button>
        </td>
      )}
    </tr>
  );
}

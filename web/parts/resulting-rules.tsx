import { getAll } from "../api/client.ts";
import type { AlertThreshold, Assignment } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { setQuery, useQuery } from "../state/router.ts";
import { showNumber } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { describeOrigin } from "../texts/threshold-origin.ts";
import { describeBounds, thresholdTexts as texts } from "../texts/thresholds.ts";
import { DeviceChoice } from "./device-choice.tsx";
import { Empty, Failure, Loading } from "./states.tsx";
import { type ResultingRule, resultingRules } from "./threshold-origin.ts";

/** What counts for one device in the end, in words, and where it comes from. */
export function ResultingRules({ thresholds }: { thresholds: readonly AlertThreshold[] }) {
  const chosen = useQuery().get("device") ?? "";
  return (
    <section class="card" aria-labelledby="resulting">
      <h2 id="resulting">{texts("resulting")}</h2>
      <DeviceChoice value={chosen} onChange={(uid) => setQuery({ device: uid })} />
      {chosen !== "" && <RulesOfDevice uid={chosen} thresholds={thresholds} />}
    </section>
  );
}

function RulesOfDevice({ uid, thresholds }: { uid: string; thresholds: readonly AlertThreshold[] }) {
  const holders = useLoaded(uid, () => getAll<Assignment>(`/api/v1/assignments/?search=${uid}&page_size=200`));
  if (holders.kind === "loading") return <Loading />;
  if (holders.kind === "failed") return <Failure error={holders.error} onRetry={holders.reload} />;
  const rules = resultingRules(uid, thresholds, holders.value);
  if (rules.length === 0) return <Empty>{texts("noRules")}</Empty>;
  return (
    <dl class="rule-facts">
      {rules.map((rule) => (
        <div key={rule.metric}>
          <dt>{metricName(rule.metric)}</dt>
          <dd>{sentenceOf(rule)}</dd>
        </div>
      ))}
    </dl>
  );
}

function sentenceOf({ metric, low, high, origin }: ResultingRule): string {
  const show = (value: number): string => `${showNumber(value)} ${metricUnit(metric)}`.trim();
  const bounds = describeBounds(low?.value ?? null, high?.value ?? null, show);
  const words = describeOrigin(origin);
  return bounds === "" ? texts("noAlarm", { origin: words }) : texts("sentence", { bounds, origin: words });
}

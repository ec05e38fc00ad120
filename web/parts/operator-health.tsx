import type { ServiceHealth } from "../api/types.ts";
import type { Loaded } from "../state/loaded.ts";
import { operatorTexts as texts } from "../texts/operator.ts";
import { Failure, Loading } from "./states.tsx";

/** The checks of the doctor: those that failed at once, the others behind a line. */
export function OperatorHealth({ health }: { health: Loaded<ServiceHealth> }) {
  return (
    <section class="card" aria-labelledby="health">
      <h2 id="health">{texts("health")}</h2>
      {health.kind === "loading" && <Loading />}
      {health.kind === "failed" && <Failure error={health.error} onRetry={health.reload} />}
      {health.kind === "ready" && <Checks checks={health.value.checks} />}
    </section>
  );
}

function Checks({ checks }: Pick<ServiceHealth, "checks">) {
  const failed = checks.filter(({ ok }) => !ok);
  const passed = checks.filter(({ ok }) => ok);
  return (
    <>
      {failed.length > 0 && <List checks={failed} isBad />}
      <details open={false}>
        <summary>
          {failed.length === 0
            ? texts("allWell", { count: passed.length })
            : texts("othersWell", { count: passed.length })}
        </summary>
        <List checks={passed} />
      </details>
    </>
  );
}

const List = ({ checks, isBad = false }: Pick<ServiceHealth, "checks"> & { isBad?: boolean }) => (
  <dl class="rule-facts">
    {checks.map(({ name, detail }) => (
      <div key={name}>
        <dt class={isBad ? "bad" : undefined}>
          {isBad && `${texts("failedCheck")}: `}
          {name}
        </dt>
        <dd class="long">{detail}</dd>
      </div>
    ))}
  </dl>
);

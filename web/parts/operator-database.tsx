import { get } from "../api/client.ts";
import type { DatabaseSize } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { showBytes, showNumber } from "../texts/format.ts";
import { operatorWorkTexts as texts } from "../texts/operator-work.ts";
import { Failure, Loading } from "./states.tsx";

const path = "/console/api/operator/database/";

/** What the database takes, by table and by partition. */
export function OperatorDatabase() {
  const size = useLoaded(path, () => get<DatabaseSize>(path));
  if (size.kind === "loading") return <Loading />;
  if (size.kind === "failed") return <Failure error={size.error} onRetry={size.reload} />;
  const { name, version, bytes, connections, max_connections, tables } = size.value;
  return (
    <>
      <section class="card" aria-label={texts("database")}>
        <dl class="rule-facts">
          <div>
            <dt>{texts("server")}</dt>
            <dd>
              PostgreSQL {version} · {name}
            </dd>
          </div>
          <div>
            <dt>{texts("size")}</dt>
            <dd>{showBytes(bytes)}</dd>
          </div>
          <div>
            <dt>{texts("connections")}</dt>
            <dd>{texts("of", { count: connections, all: max_connections })}</dd>
          </div>
        </dl>
      </section>
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">{texts("table")}</th>
            <th scope="col">{texts("size")}</th>
            <th scope="col">{texts("rows")}</th>
            <th scope="col">{texts("partitions")}</th>
          </tr>
        </thead>
        <tbody>
          {tables.map((table) => (
            <tr key={table.name}>
              <td>{table.name}</td>
              <td data-label={texts("size")}>{showBytes(table.bytes)}</td>
              <td data-label={texts("rows")}>{showNumber(table.rows, 0)}</td>
              <td data-label={texts("partitions")}>
                {table.partitions.length === 0 ? "–" : <Partitions partitions={table.partitions} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const Partitions = ({ partitions }: Pick<DatabaseSize["tables"][number], "partitions">) => (
  <details>
    <summary>{showNumber(partitions.length, 0)}</summary>
    <ul class="plain-list">
      {partitions.map(({ name, bytes, rows }) => (
        <li key={name}>
          <code>{name}</code>{" "}
          <small>
            {showBytes(bytes)} · {texts("rowCount", { count: showNumber(rows, 0) })}
          </small>
        </li>
      ))}
    </ul>
  </details>
);

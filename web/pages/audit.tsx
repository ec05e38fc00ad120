import { auditModelNames } from "../../src/resources/audit/audit-models.ts";
import type { AuditLogEntry } from "../api/types.ts";
import { AdminPage } from "../parts/admin-page.tsx";
import { AuditChanges } from "../parts/audit-changes.tsx";
import { Choice, Field } from "../parts/field.tsx";
import { PagedList } from "../parts/paged-list.tsx";
import { setQuery, useQuery } from "../state/router.ts";
import { auditTexts as texts } from "../texts/audit.ts";
import { common } from "../texts/common.ts";
import { showTime } from "../texts/format.ts";

const actions = ["created", "updated", "deleted"] as const;
const actorTypes = ["users", "partners", "system"] as const;
/** Parameters of the address that go to the service as they are. */
const filters = ["search", "action", "actor_type", "model_name"] as const;

/** The question to the service that the address of the page stands for. Days begin at midnight of the reader. */
function askedOf(query: URLSearchParams): URLSearchParams {
  const asked = new URLSearchParams();
  for (const name of filters) {
    const value = query.get(name);
    if (value !== null) asked.set(name, value);
  }
  for (const name of ["after", "before"]) {
    const day = new Date(`${query.get(name)}T00:00`);
    if (!Number.isNaN(day.getTime())) asked.set(`timestamp_${name}`, day.toISOString());
  }
  return asked;
}

const actorOf = ({ actor, actor_partner_integration, actor_type }: AuditLogEntry): string =>
  actor ? actor.full_name || actor.email : (actor_partner_integration?.name ?? texts(actor_type));

/** Who changed what, with the values before and after. */
export function AuditPage() {
  const query = useQuery();
  const asked = askedOf(query);
  return (
    <AdminPage title={common("audit")}>
      <Filters query={query} />
      <p>
        <a href={`/console/api/audit-log/export/?${asked}`} download="audit-log.csv">
          {texts("download")}
        </a>
      </p>
      <PagedList<AuditLogEntry> path={`/api/v1/audit-log/?page_size=50&${asked}`} empty={texts("none")}>
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{texts("object")}</th>
                <th scope="col">{texts("action")}</th>
                <th scope="col">{texts("who")}</th>
                <th scope="col">{texts("when")}</th>
                <th scope="col">{texts("changes")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((entry) => (
                <tr key={entry.id}>
                  <td class="long">
                    {entry.object_repr || entry.object_pk}
                    <br />
                    <small>{texts(entry.model_name)}</small>
                  </td>
                  <td data-label={texts("action")}>{texts(entry.action_display)}</td>
                  <td data-label={texts("who")}>{actorOf(entry)}</td>
                  <td data-label={texts("when")} class="time">
                    {showTime(entry.timestamp)}
                  </td>
                  <td>
                    <AuditChanges entry={entry} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </AdminPage>
  );
}

function Filters({ query }: { query: URLSearchParams }) {
  const filterOf = (name: string): string => query.get(name) ?? "";
  const all = ["", texts("all")] as const;
  return (
    <search class="filters">
      <Field
        label={common("search")}
        type="search"
        value={filterOf("search")}
        onInput={(search) => setQuery({ search })}
      />
      <Choice
        label={texts("kind")}
        value={filterOf("model_name")}
        onChange={(model_name) => setQuery({ model_name })}
        options={[all, ...auditModelNames.map((name) => [name, texts(name)] as const)]}
      />
      <Choice
        label={texts("action")}
        value={filterOf("action")}
        onChange={(action) => setQuery({ action })}
        options={[all, ...actions.map((name, index) => [String(index), texts(name)] as const)]}
      />
      <Choice
        label={texts("who")}
        value={filterOf("actor_type")}
        onChange={(actor_type) => setQuery({ actor_type })}
        options={[all, ...actorTypes.map((name) => [name, texts(name)] as const)]}
      />
      <Field label={texts("from")} type="date" value={filterOf("after")} onInput={(after) => setQuery({ after })} />
      <Field label={texts("until")} type="date" value={filterOf("before")} onInput={(before) => setQuery({ before })} />
    </search>
  );
}

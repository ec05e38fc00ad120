import { useState } from "preact/hooks";
import { patch, post } from "../api/client.ts";
import type { Organization } from "../api/types.ts";
import { common } from "../texts/common.ts";
import { showDate, showNumber } from "../texts/format.ts";
import { operatorRecordTexts as texts } from "../texts/operator-records.ts";
import { organizationTexts } from "../texts/organization.ts";
import { Field } from "./field.tsx";
import { newOrganization, organizationDraft } from "./organization-draft.ts";
import { OrganizationForm } from "./organization-form.tsx";
import { PagedList } from "./paged-list.tsx";

const path = "/console/api/operator/organizations/";

/** The organizations of the service: new ones, and their settings. */
export function OperatorOrganizations() {
  const [search, setSearch] = useState("");
  const [isAdding, setAdding] = useState(false);
  const [edited, setEdited] = useState<Organization>();
  const [round, setRound] = useState(0);
  const done = (): void => {
    setAdding(false);
    setEdited(undefined);
    setRound(round + 1);
  };
  return (
    <>
      {isAdding && (
        <section class="card" aria-labelledby="new">
          <h2 id="new">{texts("newOrganization")}</h2>
          <OrganizationForm
            initial={newOrganization}
            onCancel={() => setAdding(false)}
            send={async (body) => {
              await post(path, body);
              done();
            }}
          />
        </section>
      )}
      {edited && (
        <section class="card" aria-labelledby="edited">
          <h2 id="edited">{edited.name}</h2>
          <OrganizationForm
            key={edited.id}
            initial={organizationDraft(edited)}
            onCancel={() => setEdited(undefined)}
            send={async (body) => {
              await patch(`${path}${edited.slug}/`, body);
              done();
            }}
          />
        </section>
      )}
      <div class="head">
        <Field label={common("search")} type="search" value={search} onInput={setSearch} />
        {!isAdding && !edited && (
          <button type="button" onClick={() => setAdding(true)}>
            {texts("newOrganization")}
          </button>
        )}
      </div>
      <PagedList<Organization>
        key={round}
        path={`${path}?${new URLSearchParams({ page_size: "50", search })}`}
        empty={texts("noOrganizations")}
      >
        {(rows) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{common("name")}</th>
                <th scope="col">{common("devices")}</th>
                <th scope="col">{common("members")}</th>
                <th scope="col">{organizationTexts("zone")}</th>
                <th scope="col">{organizationTexts("features")}</th>
                <th scope="col">{texts("created")}</th>
                <th scope="col">
                  <span class="unseen">{common("edit")}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((one) => (
                <tr key={one.id}>
                  <td class="long">
                    {one.name}
                    <br />
                    <small>{one.slug}</small>
                  </td>
                  <td data-label={common("devices")}>{showNumber(one.devices, 0)}</td>
                  <td data-label={common("members")}>{showNumber(one.members, 0)}</td>
                  <td data-label={organizationTexts("zone")}>{one.timezone}</td>
                  <td data-label={organizationTexts("features")}>{one.features.join(", ") || "–"}</td>
                  <td data-label={texts("created")}>{showDate(one.created_at)}</td>
                  <td class="row-action">
                    <button
                      type="button"
                      class="plain"
                      aria-label={`${common("edit")}: ${one.name}`}
                      onClick={() => {
                        setAdding(false);
                        setEdited(one);
                        scrollTo(0, 0);
                      }}
                    >
                      {common("edit")}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
    </>
  );
}

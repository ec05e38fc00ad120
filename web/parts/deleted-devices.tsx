import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { Device, FormerDevice } from "../api/types.ts";
import { useDebounced } from "../state/debounced.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { deviceListTexts } from "../texts/devices.ts";
import { showTime } from "../texts/format.ts";
import { Field } from "./field.tsx";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

interface DeletedDevicesProps {
  onRevived(name: string): void;
  onClose(): void;
}

/** Devices that were deleted; taken back they have their history again, though nobody is assigned. */
export function DeletedDevices({ onRevived, onClose }: DeletedDevicesProps) {
  const [search, setSearch] = useState("");
  const submission = useSubmit();
  const path = `/console/api/deleted-devices/?page_size=50&search=${encodeURIComponent(useDebounced(search))}`;
  return (
    <section class="card" aria-labelledby="deleted-devices">
      <h2 id="deleted-devices">{texts("deletedTitle")}</h2>
      <Field label={`${common("search")}: ${texts("deletedTitle")}`} type="search" value={search} onInput={setSearch} />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      <PagedList<FormerDevice> path={path} empty={texts("deletedNone")}>
        {(rows, reload) => (
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{common("name")}</th>
                <th scope="col">{deviceListTexts("model")}</th>
                <th scope="col">{texts("deletedAt")}</th>
                <td />
              </tr>
            </thead>
            <tbody>
              {rows.map(({ id, uid, name, device_model_slug, deleted_at }) => (
                <tr key={id}>
                  <td>
                    {name || uid}
                    <br />
                    <small>{uid}</small>
                  </td>
                  <td data-label={deviceListTexts("model")}>{device_model_slug}</td>
                  <td data-label={texts("deletedAt")}>{showTime(deleted_at)}</td>
                  <td class="row-action">
                    <button
                      type="button"
                      disabled={submission.isBusy}
                      aria-label={texts("takeBackOf", { name: name || uid })}
                      onClick={() =>
                        void submission.run(async () => {
                          await post<Device>("/api/v1/devices/", { uid });
                          reload();
                          onRevived(name || uid);
                        })
                      }
                    >
                      {texts("takeBack")}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </PagedList>
      <div class="actions">
        <button type="button" onClick={onClose}>
          {common("close")}
        </button>
      </div>
    </section>
  );
}

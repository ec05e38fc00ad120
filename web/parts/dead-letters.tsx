import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { DeadLetter } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { deliveryTexts as texts } from "../texts/deliveries.ts";
import { showNumber, showTime } from "../texts/format.ts";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

/** Events whose delivery was given up: some or all are sent again, from the first attempt on. */
export function DeadLetters({ path }: { path: string }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [notice, setNotice] = useState("");
  const { isBusy, failure, run } = useSubmit();
  const toggle = (id: string, isOn: boolean): void => {
    const ids = new Set(chosen);
    if (isOn) ids.add(id);
    else ids.delete(id);
    setChosen(ids);
  };
  const redrive = (body: { ids: string[] } | { all: true }, reload: () => void): void =>
    void run(async () => {
      const { redriven } = await post<{ redriven: number }>(`${path}redrive/`, body);
      setNotice(texts("redriven", { count: showNumber(redriven, 0) }));
      setChosen(new Set());
      reload();
    });
  return (
    <section class="card" aria-labelledby="dead">
      <h2 id="dead">{texts("dead")}</h2>
      <p class="notice" role="status">
        {notice}
      </p>
      {failure !== undefined && <Failure error={failure} />}
      <PagedList<DeadLetter> path={`${path}dead-letters/?page_size=50`} empty={texts("noDead")}>
        {(rows, reload) => (
          <>
            <div class="actions">
              <button
                type="button"
                class="primary"
                disabled={isBusy}
                onClick={() => redrive(chosen.size === 0 ? { all: true } : { ids: [...chosen] }, reload)}
              >
                {texts("redrive")}
              </button>
              <span class="hint">
                {chosen.size === 0 ? texts("redriveAll") : texts("chosen", { count: showNumber(chosen.size, 0) })}
              </span>
            </div>
            <table class="stack">
              <thead>
                <tr>
                  <th scope="col">{texts("type")}</th>
                  <th scope="col">{texts("device")}</th>
                  <th scope="col">{texts("attempts")}</th>
                  <th scope="col">{texts("lastError")}</th>
                  <th scope="col">{texts("when")}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map(({ id, type, device_uid, attempts, last_error, occurred_at }) => (
                  <tr key={id}>
                    <td>
                      <label class="check">
                        <input
                          type="checkbox"
                          aria-label={texts("choose", { id })}
                          checked={chosen.has(id)}
                          onChange={(event) => toggle(id, event.currentTarget.checked)}
                        />
                        <span>
                          {type}
                          <br />
                          <small class="long">{id}</small>
                        </span>
                      </label>
                    </td>
                    <td data-label={texts("device")}>{device_uid}</td>
                    <td data-label={texts("attempts")}>{attempts}</td>
                    <td data-label={texts("lastError")} class="long">
                      {last_error}
                    </td>
                    <td data-label={texts("when")}>{showTime(occurred_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        )}
      </PagedList>
    </section>
  );
}

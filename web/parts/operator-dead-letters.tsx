import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { DeadLetter } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { deliveryTexts } from "../texts/deliveries.ts";
import { showNumber, showTime } from "../texts/format.ts";
import { operatorWorkTexts as texts } from "../texts/operator-work.ts";
import { DeleteButton } from "./delete-button.tsx";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

/** Events of one integration whose delivery was given up. What became of them afterwards its administrators see. */
export function OperatorDeadLetters({ id, onRedriven }: { id: string; onRedriven(): void }) {
  const path = `/console/api/operator/integrations/${id}/`;
  const [notice, setNotice] = useState("");
  const { isBusy, failure, run } = useSubmit();
  const redrive = (reload: () => void): void =>
    void run(async () => {
      const { redriven } = await post<{ redriven: number }>(`${path}redrive/`, { all: true });
      setNotice(texts("redriven", { count: showNumber(redriven, 0) }));
      reload();
      onRedriven();
    });
  return (
    <section class="card" aria-labelledby="dead">
      <h2 id="dead">{deliveryTexts("dead")}</h2>
      <p class="notice" role="status">
        {notice}
      </p>
      {failure !== undefined && <Failure error={failure} />}
      <PagedList<DeadLetter> path={`${path}dead-letters/?page_size=50`} empty={deliveryTexts("noDead")}>
        {(rows, reload) => (
          <>
            <div class="actions">
              <DeleteButton
                label={deliveryTexts("redrive")}
                question={deliveryTexts("confirmAll")}
                disabled={isBusy}
                onDelete={() => redrive(reload)}
              />
            </div>
            <table class="stack">
              <thead>
                <tr>
                  <th scope="col">{deliveryTexts("type")}</th>
                  <th scope="col">{texts("device")}</th>
                  <th scope="col">{texts("attempts")}</th>
                  <th scope="col">{texts("reason")}</th>
                  <th scope="col">{texts("when")}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((one) => (
                  <tr key={one.id}>
                    <td>
                      {one.type}
                      <br />
                      <small class="long">{one.id}</small>
                    </td>
                    <td data-label={texts("device")}>{one.device_uid}</td>
                    <td data-label={texts("attempts")}>{one.attempts}</td>
                    <td data-label={texts("reason")} class="long">
                      {one.last_error}
                    </td>
                    <td data-label={texts("when")}>{showTime(one.occurred_at)}</td>
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

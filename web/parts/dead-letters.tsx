import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api/client.ts";
import type { DeadLetter, DeliveryHealth } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { deliveryTexts as texts } from "../texts/deliveries.ts";
import { showMoment, showNumber } from "../texts/format.ts";
import { DeleteButton } from "./delete-button.tsx";
import { EventLink } from "./event-link.tsx";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

const progressEveryMs = 1000;

/** Events whose delivery was given up: some or all are sent again, from the first attempt on. */
export function DeadLetters({ path }: { path: string }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [redrives, setRedrives] = useState<readonly number[]>([]);
  const [round, setRound] = useState(0);
  const last = redrives.at(-1) ?? 0;
  const { isBusy, failure, run } = useSubmit();
  const toggle = (id: string, isOn: boolean): void => {
    const ids = new Set(chosen);
    if (isOn) ids.add(id);
    else ids.delete(id);
    setChosen(ids);
  };
  const redrive = (body: { ids: string[] } | { all: true }): void =>
    void run(async () => {
      const { redriven } = await post<{ redriven: number }>(`${path}redrive/`, body);
      setRedrives([...redrives, redriven]);
      setChosen(new Set());
      setRound(round + 1);
    });
  return (
    <section class="card" aria-labelledby="dead">
      <h2 id="dead">{texts("dead")}</h2>
      {last > 0 && (
        <RedriveProgress key={redrives.length} path={path} count={last} onEnd={() => setRound((count) => count + 1)} />
      )}
      {failure !== undefined && <Failure error={failure} />}
      <PagedList<DeadLetter> key={round} path={`${path}dead-letters/?page_size=20`} empty={texts("noDead")}>
        {(rows) => (
          <>
            <div class="actions">
              {chosen.size === 0 ? (
                <DeleteButton
                  label={texts("redrive")}
                  question={texts("confirmAll")}
                  disabled={isBusy}
                  onDelete={() => redrive({ all: true })}
                />
              ) : (
                <button type="button" class="primary" disabled={isBusy} onClick={() => redrive({ ids: [...chosen] })}>
                  {texts("redrive")}
                </button>
              )}
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
                {rows.map((row) => (
                  <LetterRow
                    key={row.id}
                    row={row}
                    isChosen={chosen.has(row.id)}
                    onChoose={(isOn) => toggle(row.id, isOn)}
                  />
                ))}
              </tbody>
            </table>
          </>
        )}
      </PagedList>
    </section>
  );
}

interface LetterRowProps {
  row: DeadLetter;
  isChosen: boolean;
  onChoose(isOn: boolean): void;
}

const LetterRow = ({ row, isChosen, onChoose }: LetterRowProps) => (
  <tr>
    <td>
      <div class="check">
        <input
          type="checkbox"
          aria-label={texts("choose", { id: row.id })}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <EventLink id={row.id} type={row.type} />
      </div>
    </td>
    <td data-label={texts("device")}>{row.device_uid}</td>
    <td data-label={texts("attempts")}>{row.attempts}</td>
    <td data-label={texts("lastError")} class="long">
      {row.last_error}
    </td>
    <td data-label={texts("when")}>{showMoment(row.occurred_at)}</td>
  </tr>
);

/** How many of those that were sent again still wait. They end as delivered, or as dead letters once more. */
function RedriveProgress({ path, count, onEnd }: { path: string; count: number; onEnd(): void }) {
  const [left, setLeft] = useState(count);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const look = async (): Promise<void> => {
      // A failure is no news: the next look may do better.
      const health = await get<DeliveryHealth>(`${path}health/`).catch(() => undefined);
      if (isOver) return;
      const waiting = health === undefined ? left : Math.min(count, health.waiting);
      setLeft(waiting);
      if (waiting === 0) onEnd();
      else timer = setTimeout(() => void look(), progressEveryMs);
    };
    timer = setTimeout(() => void look(), progressEveryMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  const numbers = { count: showNumber(count, 0), left: showNumber(left, 0) };
  return (
    <p class="notice" role="status">
      {texts(left === 0 ? "redriveDone" : "redriveProgress", numbers)}{" "}
      {left > 0 && <progress max={count} value={count - left} aria-label={texts("redrive")} />}
    </p>
  );
}

import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { PoisonedPacket, RetryOutcome, StrayDevice } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { showNumber, showTime } from "../texts/format.ts";
import { operatorWorkTexts as texts } from "../texts/operator-work.ts";
import { readableFrame } from "./frame-text.ts";
import { PagedList } from "./paged-list.tsx";
import { Failure } from "./states.tsx";

const root = "/console/api/operator/";

/** Packets that could not be stored, and devices that nobody has registered. */
export function OperatorDevices() {
  return (
    <>
      <Packets />
      <section aria-labelledby="unknown">
        <h2 id="unknown">{texts("unknownDevices")}</h2>
        <PagedList<StrayDevice> path={`${root}unknown-devices/?page_size=50`} empty={texts("noUnknown")}>
          {(rows) => (
            <table class="stack">
              <thead>
                <tr>
                  <th scope="col">{texts("device")}</th>
                  <th scope="col">{texts("protocol")}</th>
                  <th scope="col">{texts("address")}</th>
                  <th scope="col">{texts("tries")}</th>
                  <th scope="col">{texts("firstSeen")}</th>
                  <th scope="col">{texts("seen")}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((one) => (
                  <tr key={`${one.imei} ${one.protocol}`}>
                    <td>{one.imei}</td>
                    <td data-label={texts("protocol")}>{one.protocol}</td>
                    <td data-label={texts("address")} class="long">
                      {one.remote_addr}
                      {one.throttled_until !== null && (
                        <>
                          <br />
                          <small class="bad">{texts("slowed", { time: showTime(one.throttled_until) })}</small>
                        </>
                      )}
                    </td>
                    <td data-label={texts("tries")}>{showNumber(one.count, 0)}</td>
                    <td data-label={texts("firstSeen")}>{showTime(one.first_seen_at)}</td>
                    <td data-label={texts("seen")}>{showTime(one.last_seen_at)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </PagedList>
      </section>
    </>
  );
}

function Packets() {
  const [notice, setNotice] = useState("");
  const { isBusy, failure, run } = useSubmit();
  const retry = (body: { ids: string[] } | { all: true }, reload: () => void): void =>
    void run(async () => {
      const { retried, stored, failed } = await post<RetryOutcome>(`${root}poisoned-packets/retry/`, body);
      setNotice(texts("retried", { retried, stored, failed }));
      reload();
    });
  return (
    <section aria-labelledby="packets">
      <h2 id="packets">{texts("poisoned_packets")}</h2>
      <p class="hint">{texts("packetsHint")}</p>
      <p class="notice" role="status">
        {notice}
      </p>
      {failure !== undefined && <Failure error={failure} />}
      <PagedList<PoisonedPacket> path={`${root}poisoned-packets/?page_size=50`} empty={texts("noPackets")}>
        {(rows, reload) => (
          <>
            <div class="actions">
              <button type="button" disabled={isBusy} onClick={() => retry({ all: true }, reload)}>
                {texts("retryAll")}
              </button>
            </div>
            <table class="stack">
              <thead>
                <tr>
                  <th scope="col">{texts("device")}</th>
                  <th scope="col">{texts("organization")}</th>
                  <th scope="col">{texts("protocol")}</th>
                  <th scope="col">{texts("reason")}</th>
                  <th scope="col">{texts("frame")}</th>
                  <th scope="col">{texts("when")}</th>
                  <th scope="col">
                    <span class="unseen">{texts("retry")}</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rows.map((one) => (
                  <tr key={one.id}>
                    <td>{one.uid ?? texts("goneDevice")}</td>
                    <td data-label={texts("organization")}>{one.organization ?? "–"}</td>
                    <td data-label={texts("protocol")}>{one.protocol}</td>
                    <td data-label={texts("reason")} class="long">
                      {one.reason}
                    </td>
                    <td data-label={texts("frame")} class="frame-cell">
                      <Frame hex={one.frame_hex} />
                    </td>
                    <td data-label={texts("when")}>{showTime(one.received_at)}</td>
                    <td class="row-action">
                      <button
                        type="button"
                        class="plain"
                        disabled={isBusy}
                        aria-label={`${texts("retry")}: ${one.uid ?? texts("goneDevice")}, ${showTime(one.received_at)}`}
                        onClick={() => retry({ ids: [one.id] }, reload)}
                      >
                        {texts("retry")}
                      </button>
                    </td>
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

/** Text where the frame is text; the bytes behind a line. */
function Frame({ hex }: { hex: string }) {
  const text = readableFrame(hex);
  return (
    <details>
      <summary>
        <code>{text ?? `${hex.slice(0, 32)}${hex.length > 32 ? "…" : ""}`}</code>
      </summary>
      <code>{hex}</code>
    </details>
  );
}

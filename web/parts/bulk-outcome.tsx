import { common } from "../texts/common.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { deviceListTexts } from "../texts/devices.ts";
import { showNumber } from "../texts/format.ts";
import type { BulkResult } from "./bulk-run.ts";
import { Link } from "./link.tsx";

const maxShown = 200;

/** How it went: in one line, and for each device, the refused ones first. */
export function BulkOutcome({ results, total }: { results: readonly BulkResult[]; total: number }) {
  const okCount = results.filter(({ ok }) => ok).length;
  const counts = {
    ok: showNumber(okCount, 0),
    failed: showNumber(results.length - okCount, 0),
    left: showNumber(total - results.length, 0),
  };
  const rows = results.toSorted((a, b) => Number(a.ok) - Number(b.ok)).slice(0, maxShown);
  return (
    <>
      <p role="status">
        <strong>{texts(results.length < total ? "stopped" : "bulkDone", counts)}</strong>
      </p>
      {rows.length > 0 && (
        <details open={okCount < results.length}>
          <summary>{texts("results")}</summary>
          <table class="stack">
            <thead>
              <tr>
                <th scope="col">{deviceListTexts("imei")}</th>
                <th scope="col">{common("status")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ uid, ok, detail = "" }) => (
                <tr key={uid}>
                  <td>
                    <Link to={`/console/devices/${uid}`}>{uid}</Link>
                  </td>
                  <td data-label={common("status")} class={ok ? "" : "bad"}>
                    {ok ? `✓ ${texts("done")}` : `✗ ${texts("refused", { reason: detail })}`}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  );
}

import { get } from "../api/client.ts";
import type { DeviceConfig } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { showValue, wordFor } from "../texts/command-words.ts";
import { commandTexts as texts } from "../texts/commands.ts";
import { Empty, Failure, Loading } from "./states.tsx";

/** What was asked of the device and what it has confirmed. `round` reads it again. */
export function DeviceConfigPart({ uid, round }: { uid: string; round: number }) {
  const path = `/api/v1/devices/${uid}/config/`;
  const config = useLoaded(`${path}#${round}`, () => get<DeviceConfig>(path));
  const settings = config.kind === "ready" ? Object.entries(config.value.settings) : [];
  return (
    <section class="card" aria-labelledby="settings">
      <h2 id="settings">{texts("settings")}</h2>
      {config.kind === "loading" && <Loading />}
      {config.kind === "failed" && <Failure error={config.error} onRetry={config.reload} />}
      {config.kind === "ready" && settings.length === 0 && <Empty>{texts("noSettings")}</Empty>}
      {settings.length > 0 && (
        <div class="scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{texts("setting")}</th>
                <th scope="col">{texts("desired")}</th>
                <th scope="col">{texts("reported")}</th>
              </tr>
            </thead>
            <tbody>
              {settings.map(([name, { desired, reported, in_sync, redacted }]) => (
                <tr key={name}>
                  <th scope="row">{wordFor(name)}</th>
                  <td>{redacted ? texts("hidden") : showValue(desired)}</td>
                  <td>
                    {redacted ? texts("hidden") : showValue(reported)}
                    {(!in_sync || redacted || desired !== null) && (
                      <small class="sync">
                        <span aria-hidden="true">{in_sync ? "✓ " : "… "}</span>
                        {texts(in_sync ? "inSync" : "outOfSync")}
                      </small>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

import type { Device } from "../api/types.ts";
import { deviceTexts as texts } from "../texts/device.ts";

/** What the device is, for those who look after devices. */
export function DeviceDetails({ device }: { device: Device }) {
  const rows = [
    [texts("model"), device.device_model_name],
    [texts("imei"), device.uid],
    [texts("phone"), device.phone_number ?? ""],
    [texts("firmware"), device.firmware_version ?? ""],
    [texts("zone"), device.timezone],
    [texts("tags"), device.tags.join(", ")],
  ].filter(([, value]) => value !== "");
  return (
    <section class="card" aria-labelledby="details">
      <h2 id="details">{texts("details")}</h2>
      <dl class="facts narrow">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

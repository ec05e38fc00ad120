import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Device, Page, UnknownDevice } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { deviceListTexts } from "../texts/devices.ts";
import { showNumber, showTime } from "../texts/format.ts";
import { nameOf } from "./alarm-card.tsx";
import { Field } from "./field.tsx";
import { Link } from "./link.tsx";
import { Empty, Failure } from "./states.tsx";

interface Found {
  uid: string;
  attempts: UnknownDevice[];
  /** The device itself, if the organization has it. */
  registered: Device | undefined;
}

async function lookUp(uid: string): Promise<Found> {
  const [attempts, own] = await Promise.all([
    get<Page<UnknownDevice>>(`/console/api/unknown-devices/?uid=${encodeURIComponent(uid)}`),
    get<Page<Device>>(`/console/api/devices/?page_size=1&uid=${encodeURIComponent(uid)}`),
  ]);
  return { uid, attempts: attempts.results, registered: own.results[0] };
}

interface UnknownDeviceLookUpProps {
  onRegister(uid: string, protocol: string | undefined): void;
  onClose(): void;
}

/** Whether a device that nobody has registered has knocked. One asks for a whole IMEI, so nobody learns those of others. */
export function UnknownDeviceLookUp({ onRegister, onClose }: UnknownDeviceLookUpProps) {
  const [uid, setUid] = useState("");
  const [found, setFound] = useState<Found | undefined>();
  const submission = useSubmit(["uid"]);
  async function find(event: Event): Promise<void> {
    event.preventDefault();
    setFound(undefined);
    await submission.run(async () => setFound(await lookUp(uid.replace(/\D/g, ""))));
  }
  return (
    <form class="card" aria-label={texts("lookUpTitle")} onSubmit={(event) => void find(event)}>
      <h2>{texts("lookUpTitle")}</h2>
      <Field
        label={deviceListTexts("imei")}
        hint={texts("lookUpHint")}
        required
        autocomplete="off"
        maxLength={20}
        value={uid}
        onInput={setUid}
        problem={submission.problem("uid")}
      />
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {found && <Outcome found={found} onRegister={onRegister} />}
      <div class="actions">
        <button type="submit" class="primary" disabled={submission.isBusy}>
          {texts("lookUpButton")}
        </button>
        <button type="button" onClick={onClose}>
          {common("close")}
        </button>
      </div>
    </form>
  );
}

function Outcome({ found, onRegister }: { found: Found } & Pick<UnknownDeviceLookUpProps, "onRegister">) {
  const { uid, attempts, registered } = found;
  if (registered) {
    return (
      <p role="status">
        {texts("isYours")} <Link to={`/console/devices/${uid}`}>{nameOf(registered, uid)}</Link>
      </p>
    );
  }
  if (attempts.length === 0) {
    return (
      <div role="status">
        <Empty>{texts("notSeen")}</Empty>
      </div>
    );
  }
  return (
    <table class="stack">
      <thead>
        <tr>
          <th scope="col">{deviceListTexts("imei")}</th>
          <th scope="col">{texts("protocol")}</th>
          <th scope="col">{texts("address")}</th>
          <th scope="col">{texts("attempts")}</th>
          <th scope="col">{texts("firstSeen")}</th>
          <th scope="col">{common("lastSeen")}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {attempts.map(({ imei, protocol, remote_addr, count, first_seen_at, last_seen_at }) => (
          <tr key={protocol}>
            <td>{imei}</td>
            <td data-label={texts("protocol")}>{protocol}</td>
            <td data-label={texts("address")}>{remote_addr}</td>
            <td data-label={texts("attempts")}>{showNumber(count, 0)}</td>
            <td data-label={texts("firstSeen")}>{showTime(first_seen_at)}</td>
            <td data-label={common("lastSeen")}>{showTime(last_seen_at)}</td>
            <td class="row-action">
              <button type="button" class="primary" onClick={() => onRegister(imei, protocol)}>
                {texts("registerIt")}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

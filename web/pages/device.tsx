import { nameOf } from "../parts/alarm-card.tsx";
import { DeviceView, useDevice } from "../parts/device-view.tsx";
import { isMissing } from "../parts/missing.ts";
import { PageTitle } from "../parts/page-title.tsx";
import { Failure, Loading } from "../parts/states.tsx";
import { deviceTexts as texts } from "../texts/device.ts";
import { NotFoundPage } from "./not-found.tsx";

export function DevicePage({ uid }: { uid: string }) {
  const device = useDevice(uid);
  if (device.kind === "loading") return <Loading />;
  if (device.kind === "failed") {
    if (isMissing(device.error)) return <NotFoundPage />;
    return (
      <>
        <PageTitle>{texts("device")}</PageTitle>
        <Failure error={device.error} onRetry={device.reload} />
      </>
    );
  }
  return (
    <>
      <PageTitle>{nameOf(device.value, uid)}</PageTitle>
      {device.value.deleted_at !== null && <p class="notice">{texts("deleted")}</p>}
      <DeviceView key={uid} device={device.value} />
    </>
  );
}

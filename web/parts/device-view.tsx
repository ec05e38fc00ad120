import { useEffect, useMemo, useState } from "preact/hooks";
import { get, getAll } from "../api/client.ts";
import type { AlertThreshold, Assignment, Capability, Device } from "../api/types.ts";
import { devices, nameDevices } from "../state/fleet.ts";
import { useLoaded } from "../state/loaded.ts";
import { hasRole, session } from "../state/session.ts";
import { useStore } from "../state/store.ts";
import { commandTexts } from "../texts/commands.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { messageTexts } from "../texts/messages.ts";
import { DeviceAlarms } from "./device-alarms.tsx";
import { DeviceAssignments } from "./device-assignments.tsx";
import { boundsOf } from "./device-bounds.ts";
import { DeviceCommands } from "./device-commands.tsx";
import { DeviceConfigPart } from "./device-config.tsx";
import { DeviceCourse } from "./device-course.tsx";
import { DeviceDetails } from "./device-details.tsx";
import { DeviceEcg } from "./device-ecg.tsx";
import { DeviceMessages } from "./device-messages.tsx";
import { DeviceStatus } from "./device-status.tsx";
import { DeviceVitals } from "./device-vitals.tsx";
import { Failure } from "./states.tsx";
import "../styles/device.css";

/** The record of a device, kept current by the stream. */
export function useDevice(uid: string) {
  const loaded = useLoaded(`device/${uid}`, () => get<Device>(`/api/v1/devices/${uid}/`));
  useEffect(() => void nameDevices([uid]), [uid]);
  const live = useStore(devices, (known) => known.get(uid));
  const isNewer = loaded.kind === "ready" && live && (live.last_seen_at ?? "") >= (loaded.value.last_seen_at ?? "");
  if (!isNewer) return loaded;
  // The short record of the fleet has the battery alone until the device says something.
  const last_status = { ...loaded.value.last_status, ...live.last_status };
  return { ...loaded, value: { ...loaded.value, ...live, last_status } };
}

/** Of the assignments that one may see, those of the device. */
const loadAssignments = async (uid: string): Promise<Assignment[]> =>
  (await getAll<Assignment>(`/api/v1/assignments/?page_size=200&search=${uid}`)).filter(
    ({ device_uid }) => device_uid === uid,
  );

interface DeviceViewProps {
  device: Device;
  /** Whose page it is, if it is a person's. */
  onAssignments?: () => void;
}

/** The whole picture of a device and of the person who wears it; the same on both pages. */
export function DeviceView({ device, onAssignments }: DeviceViewProps) {
  const { uid } = device;
  const capabilities = useLoaded(`capabilities/${uid}`, () =>
    get<{ capabilities: Capability[] }>(`/api/v1/devices/${uid}/capabilities/`),
  );
  const thresholds = useLoaded("thresholds", () => getAll<AlertThreshold>("/api/v1/alert-thresholds/?page_size=200"));
  const assignments = useLoaded(`assignments/${uid}`, () => loadAssignments(uid));
  const [round, setRound] = useState(0);
  const held = assignments.kind === "ready" ? assignments.value : [];
  const bounds = useMemo(
    () => boundsOf(uid, thresholds.kind === "ready" ? thresholds.value : [], held),
    [uid, thresholds, assignments],
  );
  const known = capabilities.kind === "ready" ? capabilities.value.capabilities : [];
  const isAdmin = hasRole("ADMIN");
  const own = held.find(({ user_id }) => user_id === session.get()?.me.user.id);
  // A USER to whom the device is assigned as viewer may only look; the server says so too.
  const canAct = isAdmin || (hasRole("USER") && own?.role !== "viewer");
  const hasEcg = known.some(({ kind, code, supported }) => kind === "feature" && code === "ecg" && supported);
  return (
    <div class="device-view">
      <p class="on-page">
        <a href="#course-part">{texts("course")}</a>
        <a href="#messages-part">{messageTexts("title")}</a>
        <a href="#commands-part">{commandTexts("title")}</a>
      </p>
      <div class="top">
        <DeviceStatus device={device} />
        <DeviceAlarms device={device} />
        <DeviceVitals status={device.last_status} bounds={bounds} />
      </div>
      <div class="wide" id="course-part">
        <DeviceCourse device={device} bounds={bounds} />
        {hasEcg && <DeviceEcg uid={uid} />}
      </div>
      <div class="slim">
        {capabilities.kind === "failed" && <Failure error={capabilities.error} onRetry={capabilities.reload} />}
        {capabilities.kind === "ready" && (
          <>
            <DeviceMessages uid={uid} capabilities={known} canAct={canAct} />
            <DeviceCommands
              uid={uid}
              isOnline={device.is_online}
              capabilities={known}
              canAct={canAct}
              onEnd={() => setRound((count) => count + 1)}
            />
          </>
        )}
        {assignments.kind === "ready" && (
          <DeviceAssignments
            uid={uid}
            assignments={held}
            onChange={() => {
              assignments.reload();
              onAssignments?.();
            }}
          />
        )}
        {isAdmin && <DeviceConfigPart uid={uid} round={round} />}
        {isAdmin && <DeviceDetails device={device} />}
      </div>
    </div>
  );
}

import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { EcgRecording, Event, Page } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { useStreamEvent } from "../state/stream-events.ts";
import { ecgTexts as texts } from "../texts/ecg.ts";
import { readerZone, showNumber, showTime } from "../texts/format.ts";
import { EcgViewer } from "./ecg-viewer.tsx";
import { Choice } from "./field.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

const nameOf = ({ ts, duration_ms }: EcgRecording): string =>
  texts("recordingOf", { time: showTime(ts, readerZone()), seconds: showNumber(duration_ms / 1000, 0) });

/** The recordings of a device, the newest opened. */
export function DeviceEcg({ uid }: { uid: string }) {
  const path = `/api/v1/devices/${uid}/ecg/?page_size=50`;
  const list = useLoaded(path, () => get<Page<EcgRecording>>(path));
  const [chosen, setChosen] = useState<string | undefined>();
  useStreamEvent<Event>("event", ({ device_uid, event_type }) => {
    if (device_uid === uid && event_type === "ecg_recorded" && list.kind === "ready") list.reload();
  });
  const recordings = list.kind === "ready" ? list.value.results : [];
  const recording = recordings.find(({ id }) => id === chosen) ?? recordings[0];
  return (
    <section class="card" aria-labelledby="ecg">
      <h2 id="ecg">{texts("title")}</h2>
      {list.kind === "loading" && <Loading />}
      {list.kind === "failed" && <Failure error={list.error} onRetry={list.reload} />}
      {list.kind === "ready" && !recording && <Empty>{texts("none")}</Empty>}
      {recording && (
        <>
          <Choice
            label={texts("recordings")}
            value={recording.id}
            options={recordings.map((one) => [one.id, nameOf(one)] as const)}
            onChange={setChosen}
          />
          <p class="hint">
            {texts(recording.status)}
            {recording.avg_hr !== null && ` · ${texts("rateShown", { rate: recording.avg_hr })}`}
          </p>
          {recording.waveform_available && <EcgViewer key={recording.id} recording={recording} />}
        </>
      )}
    </section>
  );
}

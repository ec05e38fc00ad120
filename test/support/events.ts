import { uuidV7 } from "../../src/lib/ids.ts";
import { searchText } from "../../src/lib/search-text.ts";
import type { TestApi } from "./api.ts";
import type { TestDevice } from "./fixtures.ts";

export interface TestEvent {
  type?: number;
  severity?: number;
  ts?: string;
  deviceTs?: string | null;
  title?: string;
  message?: string;
  fenceId?: string;
  fenceName?: string;
  thresholdId?: string;
  metricKey?: string;
  value?: number;
  location?: object;
  data?: object;
}

/** An event as the ingest or a rule would have written it: an SOS unless said otherwise. */
export async function makeEvent({ db, clock }: TestApi, device: TestDevice, event: TestEvent = {}): Promise<string> {
  const id = uuidV7(clock.nowMs());
  const { type = 10, severity = 30, title = "SOS pressed", message = title } = event;
  const ts = event.ts ?? clock.now().toISOString();
  const written = await db.run`
    insert into events (device_id, id, organization_id, event_type, severity, ts, device_ts, title, message, fence_id,
      fence_name, threshold_id, metric_key, value, location, data, search, created_at)
    select id, ${id}, organization_id, ${type}, ${severity}, ${ts}, ${event.deviceTs ?? null}, ${title}, ${message},
      ${event.fenceId}, ${event.fenceName}, ${event.thresholdId}, ${event.metricKey}, ${event.value},
      ${event.location ? JSON.stringify(event.location) : null}, ${JSON.stringify(event.data ?? {})},
      ${searchText([title, device.uid])}, ${clock.now()}
    from devices where id = ${device.id}`;
  if (written !== 1) throw new Error(`there is no device ${device.id}`);
  return id;
}

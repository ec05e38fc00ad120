import { maintainPartitions } from "../../src/db/partitions.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { partitionedTables } from "../../src/roles/partitioned-tables.ts";
import type { TestAnswer } from "./api.ts";
import { imeis, register } from "./devices.ts";
import { openPartnerApi, type PartnerApi } from "./world.ts";

/** The API as far as it takes commands; nothing sends them to devices. */
export interface CommandApi extends PartnerApi {
  /** A registered device of the model; returns its IMEI. */
  device(model?: string): Promise<string>;
  post(uid: string, body: unknown, headers?: Record<string, string>, by?: string): Promise<TestAnswer>;
  setStatus(id: string, status: string): Promise<unknown>;
}

export const commandPath = (uid: string, id = ""): string =>
  `/api/v1/devices/${uid}/commands/${id === "" ? "" : `${id}/`}`;

export async function openCommandApi(clock: Clock): Promise<CommandApi> {
  const partner = await openPartnerApi({ clock });
  const { api, token } = partner;
  await maintainPartitions(api.db, partitionedTables, clock.nowMs());
  const nextImei = imeis(490_154_206_000_000);
  return {
    ...partner,
    device: async (model = "iw-h10") => {
      const uid = nextImei();
      const { status } = await register(api, token, uid, { device_model_slug: model });
      if (status !== 201) throw new Error(`${uid} was not registered`);
      return uid;
    },
    post: (uid, body, headers = {}, by = token) => api.call("POST", commandPath(uid), { token: by, body, headers }),
    setStatus: (id, status) =>
      api.db.run`update commands set status = ${status}, attempts = 1, due_at = null where id = ${id}`,
  };
}

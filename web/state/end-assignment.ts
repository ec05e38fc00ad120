import { post, remove } from "../api/client.ts";
import type { Assignment } from "../api/types.ts";

/** Who only looks was shared the device; that ends by another call. */
export const endAssignment = ({ device_uid, user_id, role }: Assignment): Promise<unknown> =>
  role === "viewer"
    ? remove(`/api/v1/devices/${device_uid}/share/${user_id}/`)
    : post(`/api/v1/devices/${device_uid}/unassign/`, { user_id });

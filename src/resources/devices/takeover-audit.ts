import type { Tx } from "../../db/database.ts";
import { taskActor } from "../../oauth/actor.ts";
import { recordAudit } from "../audit/audit-store.ts";

export interface Takeover {
  deviceId: string;
  organizationId: string;
  uid: string;
  /** Of the connection that took over. */
  epoch: number;
  isConflict: boolean;
}

/** Without the addresses: who may read the log may not see them. */
export const auditTakeover = (tx: Tx, takeover: Takeover, now: Date): Promise<void> =>
  recordAudit(tx, taskActor(takeover.organizationId), now, {
    action: "updated",
    model: "device",
    objectPk: takeover.deviceId,
    objectRepr: takeover.uid,
    changes: { connection: [takeover.epoch - 1, takeover.epoch] },
    additionalData: { reason: takeover.isConflict ? "session_conflict" : "takeover" },
  });

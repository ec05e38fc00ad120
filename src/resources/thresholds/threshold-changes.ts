import type { Db } from "../../db/database.ts";
import type { FormerHold } from "../assignments/holder-store.ts";
import type { ThresholdRule } from "./threshold-rules-store.ts";

/** What was changed of thresholds and holders, and how it was before. */
export type ThresholdChange =
  | { kind: "threshold"; version: number; id: string; before: ThresholdRule | null }
  | { kind: "device"; version: number; id: string; before: FormerHold | null };

/** After one version and up to another, the newest first. */
export const listThresholdChanges = (
  db: Db,
  organizationId: string,
  sinceVersion: number,
  untilVersion: number,
): Promise<ThresholdChange[]> =>
  db.many<ThresholdChange>`
    select version, kind, object_id as id, before from rule_changes
    where organization_id = ${organizationId} and version > ${sinceVersion} and version <= ${untilVersion}
      and kind in ('threshold', 'device')
    order by version desc`;

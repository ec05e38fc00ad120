import { metricKeys } from "../../codecs/metric-keys.ts";
import type { Db } from "../../db/database.ts";
import { type Sql, sql } from "../../db/sql.ts";
import { type ListPage, sqlPage } from "../../http/list-results.ts";
import { defineList, type ListQuery } from "../../http/lists.ts";
import type { Principal } from "../../http/principal.ts";
import { choiceParam, imeiParam, type QueryParam, QueryValueError } from "../../http/query-params.ts";
import { foldForSearch } from "../../lib/search-text.ts";
import { parseLabel, type ThresholdScope, thresholdScopes } from "./threshold-labels.ts";
import { type ThresholdRow, thresholdColumns, thresholdTables } from "./threshold-record.ts";
import { visibleThresholds } from "./threshold-store.ts";

const scopeParam: QueryParam<ThresholdScope> = {
  description: "Organization (10), Device (15) or User (20), as number or label in any case.",
  schema: { type: "string", enum: Object.keys(thresholdScopes) },
  parse: (text) => {
    const scope = parseLabel(thresholdScopes, /^\d{1,3}$/.test(text) ? Number(text) : text);
    if (scope === undefined) throw new QueryValueError(`"${text}" is not a valid choice.`);
    return scope;
  },
};

export const thresholdList = defineList({
  kind: "page",
  ordering: ["metric_key", "scope", "created_at"],
  defaultOrdering: "metric_key",
  searches: "metric_key",
  filters: {
    device_uid: imeiParam("Rows of scope Device for the device with this IMEI."),
    metric_key: choiceParam("The metric.", metricKeys),
    scope: scopeParam,
  },
});

type ThresholdQuery = ListQuery<(typeof thresholdList)["filters"]>;

/** An organization has one row of an IMEI, live or deleted, and either may have thresholds. Each has an index of its own. */
const appliesToDevice = (organizationId: string, uid: string): Sql => sql`t.device_id in (
  select live.id from devices live
  where live.organization_id = ${organizationId} and live.uid = ${uid} and live.deleted_at is null
  union all
  select former.id from devices former
  where former.organization_id = ${organizationId} and former.uid = ${uid} and former.deleted_at is not null)`;

function conditions(principal: Principal, { filters, search }: ThresholdQuery): Sql[] {
  const where = [visibleThresholds(principal)];
  const { device_uid, metric_key, scope } = filters;
  if (device_uid === null) where.push(sql`false`);
  else if (device_uid !== undefined) where.push(appliesToDevice(principal.organization.id, device_uid));
  if (metric_key !== undefined) where.push(sql`t.metric_key = ${metric_key}`);
  if (scope !== undefined) where.push(sql`t.scope = ${scope}`);
  if (search !== undefined) {
    // The ten keys are looked through here: the database then has an index for what they are.
    const wanted = foldForSearch(search);
    where.push(sql`t.metric_key = any(${metricKeys.filter((key) => key.includes(wanted))}::text[])`);
  }
  return where;
}

export const listThresholds = (db: Db, principal: Principal, query: ThresholdQuery): Promise<ListPage<ThresholdRow>> =>
  sqlPage<ThresholdRow>(
    db,
    { ...query, search: undefined },
    {
      select: thresholdColumns,
      from: thresholdTables,
      where: conditions(principal, query),
      search: sql`t.metric_key`,
      ordering: {
        metric_key: { column: sql`t.metric_key` },
        scope: { column: sql`t.scope` },
        created_at: { column: sql`t.created_at` },
      },
      key: sql`t.id`,
    },
  );

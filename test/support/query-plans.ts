import type { Db } from "../../src/db/database.ts";
import { Sql, sql } from "../../src/db/sql.ts";

/** What EXPLAIN says of one step of a statement that was run. */
export interface PlanNode {
  "Node Type": string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: PlanNode[];
  /** On a distributed database: what was asked of a shard. */
  "Distributed Query"?: { Job: { Tasks: { "Remote Plan": { Plan: PlanNode }[][] }[] } };
}

/** The database, but every read is run once more before, to have its plan told. */
export function explaining(db: Db, tell: (plan: PlanNode) => void): Db {
  const many: Db["many"] = async (statement, ...values) => {
    const part = statement instanceof Sql ? statement : new Sql(statement, values);
    const [row] = await db.many<{ "QUERY PLAN": { Plan: PlanNode }[] }>(
      sql`explain (analyze, timing off, format json) ${part}`,
    );
    tell(row?.["QUERY PLAN"][0]?.Plan as PlanNode);
    return db.many(statement, ...values);
  };
  return { ...db, many, maybeOne: async (...given) => (await many(...given))[0] as never };
}

const remotePlansOf = (plan: PlanNode): PlanNode[] =>
  (plan["Distributed Query"]?.Job.Tasks ?? []).flatMap((task) => task["Remote Plan"].flat().map(({ Plan }) => Plan));

const partsOf = (plan: PlanNode): PlanNode[] => [...(plan.Plans ?? []), ...remotePlansOf(plan)];

/** The plan and all below it, those of the workers of a distributed database too. */
export const stepsOf = (plan: PlanNode): PlanNode[] => [plan, ...partsOf(plan).flatMap(stepsOf)];

/** How many rows of tables and indexes a statement has looked at. */
export function rowsRead(plan: PlanNode): number {
  const scans = stepsOf(plan).filter((step) => step["Node Type"].endsWith("Scan") && partsOf(step).length === 0);
  const each = scans.map((step) => {
    const dropped = (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Index Recheck"] ?? 0);
    return (step["Actual Rows"] + dropped) * step["Actual Loops"];
  });
  return each.reduce((sum, rows) => sum + rows, 0);
}

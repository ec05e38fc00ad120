import type { Db } from "./database.ts";

/** Hands a read to one server or another. */
export type RouteRead = <T>(from: (db: Db) => Promise<T>) => Promise<T>;

/** Statements that read go where `route` sends them; those that write go to `writes`. */
export const routedReads = (route: RouteRead, writes: Db): Db => ({
  many: (statement, ...values) => route((db) => db.many(statement, ...values)),
  one: (statement, ...values) => route((db) => db.one(statement, ...values)),
  maybeOne: (statement, ...values) => route((db) => db.maybeOne(statement, ...values)),
  run: (statement, ...values) => writes.run(statement, ...values),
});

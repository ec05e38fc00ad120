import { addOperator } from "../../src/oauth/operator-store.ts";
import type { TestApi } from "./api.ts";
import { cheapPasswordHash } from "./password-hash.ts";

/** A person who runs the service, with the password of all test people. */
export async function makeOperator({ db, clock }: TestApi, email: string): Promise<{ id: string; email: string }> {
  const passwordHash = await cheapPasswordHash();
  const added = await db.transaction((tx) => addOperator(tx, { email, passwordHash }, clock.now()));
  if (added.kind !== "added") throw new Error(`${email} was not made an operator: ${added.kind}`);
  return { id: added.operator.id, email };
}

import type { Tx } from "../db/database.ts";
import type { Actor } from "../oauth/actor.ts";
import { findIntegrationForOperator } from "../resources/organizations/integration-store.ts";
import { type CommandContext, CommandError } from "./command.ts";
import { withDatabase } from "./command-database.ts";
import { operatorIn } from "./operator.ts";
import { uuidArgument } from "./option-values.ts";

export interface Target {
  tx: Tx;
  organizationId: string;
  id: string;
  actor: Actor;
  now: Date;
}

export const integrationMissing = (id: string): CommandError =>
  new CommandError(`there is no integration ${id}: "vigil integration list --org SLUG" lists them`);

/** Runs the work on the integration named by the first argument, in its organization and in one transaction. */
export async function onIntegration<T>(
  context: CommandContext,
  work: (target: Target) => Promise<T | undefined>,
): Promise<{ outcome: T; organizationSlug: string }> {
  const id = uuidArgument(context.args, "ID");
  return withDatabase(context, (db) =>
    db.transaction(async (tx) => {
      const found = await findIntegrationForOperator(tx, id);
      const outcome =
        found &&
        (await work({
          tx,
          organizationId: found.organizationId,
          id,
          actor: operatorIn(found.organizationId),
          now: context.clock.now(),
        }));
      if (!found || outcome === undefined) {
        throw integrationMissing(id);
      }
      return { outcome, organizationSlug: found.organizationSlug };
    }),
  );
}

import type { Database } from "../../src/db/database.ts";
import { createIntegration } from "../../src/resources/organizations/integration-store.ts";
import { cliActor } from "./api.ts";
import { integrationSettings } from "./integration-settings.ts";
import { testSecrets } from "./secrets.ts";

/** Rows that the log needs, on any database. */
export async function makeOrganization(db: Database, id: string, now: Date): Promise<void> {
  await db.run`
    insert into organizations (id, slug, name, timezone, default_locale, features, per_minute, per_hour, created_at, updated_at)
    values (${id}, ${id}, 'Care', 'UTC', 'en', '{}', 1000, 1000, ${now}, ${now})`;
}

/** Returns its id. */
export async function makeIntegration(db: Database, organizationId: string, now: Date): Promise<string> {
  const { integration } = await db.transaction((tx) =>
    createIntegration(tx, organizationId, integrationSettings(), cliActor(organizationId), now, testSecrets),
  );
  return integration.id;
}

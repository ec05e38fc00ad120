import type { Db } from "../../db/database.ts";
import { notFound, validationError } from "../../lib/errors.ts";
import { findIntegration, type Integration } from "../../resources/organizations/integration-store.ts";

/** The integration that a path names, if it is one of the organization. */
export async function loadIntegration({
  db,
  organizationId,
  params,
}: {
  db: Db;
  organizationId: string;
  params: Readonly<Record<string, string>>;
}): Promise<Integration> {
  const integration = await findIntegration(db, organizationId, params.id as string);
  if (!integration) throw notFound();
  return integration;
}

/** Something can be sent to it. */
export function requireWebhook({ status, webhookUrl }: Integration): void {
  if (status !== "active") throw validationError({ status: ["The integration is disabled. Enable it first."] });
  if (webhookUrl === null) {
    throw validationError({ webhook_url: ["The integration has no webhook. Set its URL first."] });
  }
}

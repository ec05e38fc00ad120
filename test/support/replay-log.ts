import type { TestAnswer, TestApi } from "./api.ts";
import { makeIntegration, makeOrganization, type TestIntegration, type TestOrganization } from "./world.ts";

/** An empty log: an organization of its own, and one integration whose token lives for as long as a test moves the clock. */
export async function makeReplayLog(
  api: TestApi,
): Promise<{ organization: TestOrganization; integration: TestIntegration }> {
  const organization = await makeOrganization(api);
  const integration = await makeIntegration(api, organization);
  await api.db.run`update access_tokens set expires_at = '2100-01-01' where integration_id = ${integration.id}`;
  return { organization, integration };
}

export const idsIn = ({ body }: TestAnswer): string[] => body.data.map(({ id }: { id: string }) => id);
export const typesIn = ({ body }: TestAnswer): string[] => body.data.map(({ type }: { type: string }) => type);
export const refusalIn = ({ status, body }: TestAnswer): [number, string] => [status, body.error.code];

import { openPartnerApi, type PartnerApi } from "../../../test/support/world.ts";
import { createClient, type VigilClient } from "../../src/vigil-client.ts";
import { type InjectFetch, makeInjectFetch } from "./inject-fetch.ts";

export interface PartnerClient extends PartnerApi {
  client: VigilClient;
  net: InjectFetch;
}

/** The application in process, and a client of one of its partners. */
export async function openPartnerClient(options: Parameters<typeof openPartnerApi>[0] = {}): Promise<PartnerClient> {
  const partner = await openPartnerApi(options);
  const net = makeInjectFetch(partner.api);
  return { ...partner, net, client: clientOf(partner, net) };
}

export const clientOf = (
  { integration: { clientId, clientSecret } }: PartnerApi,
  net: InjectFetch,
  extra: { maxRetries?: number; maxWaitMs?: number; timeoutMs?: number } = {},
): VigilClient =>
  createClient({ baseUrl: "https://vigil.example/", clientId, clientSecret, fetch: net.fetch, ...extra });

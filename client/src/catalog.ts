import { listOf, type QueryOf } from "./lists.ts";
import type { CallOptions, Transport } from "./transport.ts";

export const makeCatalog = (transport: Transport) => {
  const { call } = transport;
  return {
    protocols: (query: QueryOf<"protocols_list"> = {}, options?: CallOptions) =>
      listOf(transport, "protocols_list", { query }, options),
    protocol: (protocol_slug: string, options?: CallOptions) =>
      call("protocols_retrieve", { path: { protocol_slug } }, options),
    models: (query: QueryOf<"models_list"> = {}, options?: CallOptions) =>
      listOf(transport, "models_list", { query }, options),
    modelsOf: (protocol_slug: string, query: QueryOf<"protocols_models_list"> = {}, options?: CallOptions) =>
      listOf(transport, "protocols_models_list", { path: { protocol_slug }, query }, options),
    model: (protocol_slug: string, model_slug: string, options?: CallOptions) =>
      call("protocols_models_retrieve", { path: { protocol_slug, model_slug } }, options),
    capabilities: (
      protocol_slug: string,
      model_slug: string,
      query: QueryOf<"protocols_models_capabilities_list"> = {},
      options?: CallOptions,
    ) =>
      listOf(transport, "protocols_models_capabilities_list", { path: { protocol_slug, model_slug }, query }, options),
  };
};

export const makeOrganization = ({ call }: Transport) => ({
  self: (options?: CallOptions) => call("organizations_self_retrieve", {}, options),
});

export const makeAuditLog = (transport: Transport) => ({
  list: (query: QueryOf<"audit_log_list"> = {}, options?: CallOptions) =>
    listOf(transport, "audit_log_list", { query }, options),
  get: (id: number, options?: CallOptions) => transport.call("audit_log_retrieve", { path: { id } }, options),
});

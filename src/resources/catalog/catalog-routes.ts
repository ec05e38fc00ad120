import { arrayPage } from "../../http/list-results.ts";
import { defineList } from "../../http/lists.ts";
import { ok, type Route, route } from "../../http/route.ts";
import { pageOf, refTo } from "../../http/schemas.ts";
import { notFound } from "../../lib/errors.ts";
import type { Capability as CatalogCapability } from "./capability.ts";
import type { Catalog, Model as CatalogModel, Protocol as CatalogProtocol } from "./catalog.ts";
import { Capability, DeviceModel, Protocol, toCapability } from "./catalog-schemas.ts";

const named = defineList({
  kind: "page",
  ordering: ["slug", "name"],
  defaultOrdering: "slug",
  searches: "slug, name",
  filters: {},
});

const capabilityList = defineList({
  kind: "page",
  ordering: ["code", "kind", "category"],
  defaultOrdering: "code",
  searches: "code, label",
  filters: {},
});

const readNamed = {
  field: (row: { slug: string; name: string }, name: string) => (name === "name" ? row.name : row.slug),
  searched: (row: { slug: string; name: string }) => [row.slug, row.name],
  key: (row: { slug: string }) => row.slug,
};

const readCapability = {
  field: (row: CatalogCapability, name: string) => row[name as "code" | "kind" | "category"],
  searched: (row: CatalogCapability) => [row.code, row.label],
  key: (row: CatalogCapability) => row.code,
};

const ProtocolPage = pageOf(Protocol);
const ModelPage = pageOf(DeviceModel);
const CapabilityPage = pageOf(Capability);

const access = { tag: "Catalog", partners: ["catalog:read"], people: "VIEWER", dependsOn: "address" } as const;

export function catalogRoutes(catalog: Catalog, ackTimeoutSeconds: number): Route[] {
  const protocolOf = (params: Readonly<Record<string, string>>): CatalogProtocol => {
    const protocol = catalog.findProtocol(params.protocol_slug ?? "");
    if (!protocol) throw notFound();
    return protocol;
  };
  const modelOf = (params: Readonly<Record<string, string>>): CatalogModel => {
    const model = catalog.findModelOf(params.protocol_slug ?? "", params.model_slug ?? "");
    if (!model) throw notFound();
    return model;
  };
  return [
    route({
      ...access,
      method: "GET",
      path: "/api/v1/protocols/",
      operationId: "protocols_list",
      summary: "Device protocols",
      list: named,
      responses: { 200: refTo(ProtocolPage) },
      handle: async ({ list, page }) => page(arrayPage(catalog.protocols, list(), readNamed), (protocol) => protocol),
    }),
    route({
      ...access,
      method: "GET",
      path: "/api/v1/protocols/:protocol_slug/",
      operationId: "protocols_retrieve",
      summary: "One protocol",
      params: { protocol_slug: "slug" },
      responses: { 200: refTo(Protocol) },
      load: async ({ params }) => protocolOf(params),
      handle: async ({ object }) => ok(object),
    }),
    route({
      ...access,
      method: "GET",
      path: "/api/v1/models/",
      operationId: "models_list",
      summary: "Device models of all protocols",
      list: named,
      responses: { 200: refTo(ModelPage) },
      handle: async ({ list, page }) => page(arrayPage(catalog.models, list(), readNamed), (model) => model),
    }),
    route({
      ...access,
      method: "GET",
      path: "/api/v1/protocols/:protocol_slug/models/",
      operationId: "protocols_models_list",
      summary: "Device models of one protocol",
      params: { protocol_slug: "slug" },
      list: named,
      responses: { 200: refTo(ModelPage) },
      load: async ({ params }) => protocolOf(params),
      handle: async ({ object, list, page }) => {
        const models = catalog.models.filter(({ protocol_slug }) => protocol_slug === object.slug);
        return page(arrayPage(models, list(), readNamed), (model) => model);
      },
    }),
    route({
      ...access,
      method: "GET",
      path: "/api/v1/protocols/:protocol_slug/models/:model_slug/",
      operationId: "protocols_models_retrieve",
      summary: "One device model",
      params: { protocol_slug: "slug", model_slug: "slug" },
      responses: { 200: refTo(DeviceModel) },
      load: async ({ params }) => modelOf(params),
      handle: async ({ object }) => ok(object),
    }),
    route({
      ...access,
      method: "GET",
      path: "/api/v1/protocols/:protocol_slug/models/:model_slug/capabilities/",
      operationId: "protocols_models_capabilities_list",
      summary: "What a device model supports",
      params: { protocol_slug: "slug", model_slug: "slug" },
      list: capabilityList,
      responses: { 200: refTo(CapabilityPage) },
      load: async ({ params }) => modelOf(params),
      handle: async ({ object, list, page }) =>
        page(arrayPage(catalog.capabilitiesOf(object.slug), list(), readCapability), (capability) =>
          toCapability(capability, ackTimeoutSeconds),
        ),
    }),
  ];
}

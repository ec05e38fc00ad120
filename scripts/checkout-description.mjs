/** The description of the API as the routes of this checkout give it. Runs under tsx. */
export async function describeCheckout() {
  const { routeTable } = await import("../src/app.ts");
  const { describeApi } = await import("../src/http/openapi.ts");
  const { loadCatalog } = await import("../src/resources/catalog/catalog.ts");
  const times = { commandAckTimeoutSeconds: 60, commandTtlSeconds: 86_400 };
  const routes = routeTable({ catalog: loadCatalog(), voice: {}, ...times });
  return JSON.parse(JSON.stringify(describeApi(routes, { version: "0.0.0", serverUrl: "/" })));
}

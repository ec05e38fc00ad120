import type { TSchema } from "@sinclair/typebox";
import { scopes } from "../oauth/scopes.ts";
import { ErrorBody, OAuthError, ReplayError } from "./openapi-errors.ts";
import { addExamples } from "./openapi-examples.ts";
import { headerComponents } from "./openapi-headers.ts";
import { oauthPaths, oauthSchemas, oauthTag } from "./openapi-oauth.ts";
import { describeOperation } from "./openapi-operation.ts";
import { componentOf } from "./openapi-schema.ts";
import type { Route } from "./route.ts";
import { collectNamed } from "./schemas.ts";

type Json = Record<string, unknown>;

export interface DescriptionOptions {
  version: string;
  /** Where the service is reached; without it, where the description was read. */
  serverUrl?: string | undefined;
  webhooks?: Json;
}

/**
 * The OpenAPI 3.0.3 description, made from the route table: the same schemas that check bodies and serialize answers. What is
 * not in the table cannot be described, and what is in it cannot be left out.
 */
export function describeApi(routes: readonly Route[], { version, serverUrl, webhooks = {} }: DescriptionOptions): Json {
  const described = routes.filter((route) => route.partners !== "never");
  const schemas = collectNamed([
    ...described.flatMap((route) => [route.body, ...Object.values(route.responses)].filter((schema) => !!schema)),
    ErrorBody,
    OAuthError,
    ReplayError,
    ...oauthSchemas,
  ] as TSchema[]);
  const paths: Record<string, Json> = oauthPaths();
  for (const route of described) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route) };
  }
  const components = Object.fromEntries(
    [...schemas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, schema]) => [name, componentOf(name, schema)]),
  );
  addExamples(paths, components);
  return {
    openapi: "3.0.3",
    info: {
      title: "Vigil partner API",
      version,
      description:
        "Device tracking and health monitoring for partners, server to server. Every call carries a bearer token of the client credentials flow and is bound to the organization of the token.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: serverUrl ?? "/" }],
    tags: [...new Set([oauthTag, ...described.map((route) => route.tag)])].map((name) => ({ name })),
    paths,
    components: {
      schemas: components,
      headers: headerComponents,
      securitySchemes: {
        oauth2: {
          type: "oauth2",
          flows: { clientCredentials: { tokenUrl: "/o/token/", scopes: { ...scopes } } },
        },
        bearer: { type: "http", scheme: "bearer", description: "An access token of `POST /o/token/`." },
      },
    },
    "x-webhooks": webhooks,
  };
}

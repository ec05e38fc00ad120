import { type TObject, Type } from "@sinclair/typebox";
import { OAuthError } from "./openapi-errors.ts";
import { headerRefs } from "./openapi-headers.ts";

type Json = Record<string, unknown>;

export const oauthTag = "OAuth";

const client = {
  client_id: Type.Optional(Type.String({ description: "Omitted when the client authenticates with HTTP Basic." })),
  client_secret: Type.Optional(Type.String({ description: "Omitted when the client authenticates with HTTP Basic." })),
};

const TokenRequest = Type.Object(
  {
    grant_type: Type.Unsafe<"client_credentials">({ type: "string", enum: ["client_credentials"] }),
    scope: Type.Optional(
      Type.String({
        description: "Scopes, separated by spaces. Default: all scopes of the client.",
        examples: ["devices:read"],
      }),
    ),
    ...client,
  },
  { $id: "OAuthTokenRequest" },
);

const Token = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.String({ examples: ["Bearer"] }),
    expires_in: Type.Integer({ description: "Seconds." }),
    scope: Type.String({ description: "Scopes, separated by spaces." }),
  },
  { $id: "OAuthToken" },
);

const token = { token: Type.String({ description: "An access token of the same client." }) };
const RevokeRequest = Type.Object({ ...token, ...client }, { $id: "OAuthRevokeRequest" });
const IntrospectRequest = Type.Object({ ...token, ...client }, { $id: "OAuthIntrospectRequest" });

const Introspection = Type.Object(
  {
    active: Type.Boolean({ description: "False unless the token is valid and belongs to this client." }),
    scope: Type.Optional(Type.String()),
    exp: Type.Optional(Type.Integer({ format: "int64", description: "Unix seconds." })),
    client_id: Type.Optional(Type.String()),
    token_type: Type.Optional(Type.String()),
  },
  { $id: "OAuthIntrospection" },
);

export const oauthSchemas: readonly TObject[] = [TokenRequest, Token, RevokeRequest, IntrospectRequest, Introspection];

interface OAuthCall {
  operationId: string;
  summary: string;
  request: TObject;
  answer: TObject | null;
}

/** The calls that make, end and look up tokens (RFC 6749, 7009, 7662). They need the secret of the client instead of a token. */
export const oauthPaths = (): Record<string, Json> => ({
  "/o/token/": call({
    operationId: "oauth_token",
    summary: "Get an access token with client credentials",
    request: TokenRequest,
    answer: Token,
  }),
  "/o/revoke_token/": call({
    operationId: "oauth_revoke_token",
    summary: "Revoke a token of the client",
    request: RevokeRequest,
    answer: null,
  }),
  "/o/introspect/": call({
    operationId: "oauth_introspect",
    summary: "Introspect a token of the client",
    request: IntrospectRequest,
    answer: Introspection,
  }),
});

const refOf = ({ $id }: TObject): Json => ({ schema: { $ref: `#/components/schemas/${$id}` } });

const failures: Record<number, string> = {
  400: "The request is incomplete, or asks for something that the client was not granted.",
  401: "Client authentication failed.",
  429: "Too many failed attempts by this client.",
  500: "Internal error.",
  503: "Temporarily unavailable.",
};

function call({ operationId, summary, request, answer }: OAuthCall): Json {
  const failed = Object.entries(failures).map(([status, description]) => [
    status,
    {
      description,
      headers: headerRefs(["X-Request-Id", ...(status === "429" || status === "503" ? ["Retry-After"] : [])]),
      content: { "application/json": refOf(OAuthError) },
    },
  ]);
  const success = {
    description: answer ? "Success" : "Success, no body; also for a token that is unknown",
    headers: headerRefs(["X-Request-Id"]),
    ...(answer ? { content: { "application/json": refOf(answer) } } : {}),
  };
  return {
    post: {
      operationId,
      tags: [oauthTag],
      summary,
      description: "The client authenticates with HTTP Basic, or with `client_id` and `client_secret` in the body.",
      security: [],
      requestBody: {
        required: true,
        // JSON is accepted too, but not described: clients by openapi-generator would send an empty body of that type.
        content: { "application/x-www-form-urlencoded": refOf(request) },
      },
      responses: { 200: success, ...Object.fromEntries(failed) },
    },
  };
}

import type { TSchema } from "@sinclair/typebox";
import { listSizes } from "./lists.ts";
import { headersOf } from "./openapi-headers.ts";
import { toOpenApi } from "./openapi-schema.ts";
import { commaListSchema } from "./query-params.ts";
import type { PathParam, Route } from "./route.ts";
import { collectNamed } from "./schemas.ts";

type Json = Record<string, unknown>;

/** What the description says of a route. */
export function describeOperation(route: Route): Json {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...withoutEmpty("parameters", parametersOf(route)),
    ...(route.body
      ? {
          requestBody: {
            required: isRequired(route.body),
            content: { [route.file ? "multipart/form-data" : "application/json"]: { schema: toOpenApi(route.body) } },
          },
        }
      : {}),
    security: [{ oauth2: [...(route.partners as readonly string[])] }, { bearer: [] }],
    responses: responsesOf(route),
  };
}

const withoutEmpty = (name: string, values: Json[]): Json => (values.length > 0 ? { [name]: values } : {});

const isRequired = (schema: TSchema): boolean => {
  const target = [...collectNamed([schema]).values()].find(({ $id }) => schema.$ref === `${$id}#`) ?? schema;
  return Array.isArray(target.required) && target.required.length > 0;
};

const paramSchemas: Record<PathParam, Json> = {
  uuid: { type: "string", format: "uuid" },
  imei: { type: "string", pattern: "^\\d{15}$", description: "IMEI" },
  integer: { type: "integer" },
  slug: { type: "string" },
};

function parametersOf(route: Route): Json[] {
  const inPath = Object.entries(route.params ?? {}).map(([name, kind]) => {
    const { description, ...schema } = paramSchemas[kind];
    return { name, in: "path", required: true, ...(description ? { description } : {}), schema };
  });
  const query = [...Object.entries(route.query ?? {}), ...Object.entries(route.list?.filters ?? {})].map(
    ([name, param]) => ({
      name,
      in: "query",
      description: param.description,
      ...commaStyle(param.schema),
      schema: param.schema,
    }),
  );
  return [...inPath, ...query, ...listParameters(route), ...headerParameters(route)];
}

/** Lists are separated by commas, not repeated. */
const commaStyle = ({ type }: Json): Json => (type === "array" ? { style: "form", explode: false } : {});

function listParameters({ list }: Route): Json[] {
  if (!list) return [];
  const { defaultSize, maxSize } = listSizes[list.kind];
  const directions = list.ordering.flatMap((field) => [field, `-${field}`]);
  const direction = {
    type: "string",
    enum: directions,
    "x-enum-varnames": list.ordering.flatMap((field) => [field.toUpperCase(), `${field.toUpperCase()}_DESCENDING`]),
  };
  const several = list.kind === "page" ? " Several, separated by commas." : "";
  const parameter = (name: string, description: string, schema: Json): Json => ({
    name,
    in: "query",
    description,
    ...commaStyle(schema),
    schema,
  });
  const paging =
    list.kind === "page"
      ? [
          // One type for generators; the word stays accepted.
          parameter("page", "Page number from 1; `last` in its place is the last page.", {
            type: "integer",
            minimum: 1,
          }),
        ]
      : [
          parameter("cursor", "The position to continue from, taken from `next` or `previous`.", { type: "string" }),
          parameter("order", `Sort direction of ${list.ordering[0]}; \`ordering\` takes precedence.`, {
            type: "string",
            enum: ["asc", "desc"],
          }),
        ];
  return [
    ...paging,
    parameter(
      "page_size",
      `Rows per page, default ${defaultSize}. Values above ${maxSize} are reduced to ${maxSize}.`,
      {
        type: "integer",
        minimum: 1,
        default: defaultSize,
      },
    ),
    parameter(
      "ordering",
      `One of ${directions.join(", ")}.${several} Default ${list.defaultOrdering}.`,
      list.kind === "page" ? commaListSchema(direction) : direction,
    ),
    parameter("search", `Case-insensitive substring of: ${list.searches}.`, { type: "string" }),
  ];
}

const headerParameters = (route: Route): Json[] =>
  route.isIdempotent
    ? [
        {
          name: "Idempotency-Key",
          in: "header",
          description:
            "1 to 255 printable ASCII characters. Repeating the same key and body within 24 hours returns the first answer.",
          schema: { type: "string", minLength: 1, maxLength: 255 },
        },
      ]
    : [];

const errorTexts: Record<number, string> = {
  400: "Invalid input.",
  401: "The token is missing, invalid or expired.",
  403: "A required scope, feature or role is missing.",
  404: "No such object in this organization.",
  409: "The current state does not allow this.",
  410: "The cursor is older than the retention period.",
  413: "The body is too large.",
  415: "The media type is not supported.",
  416: "The requested range starts beyond the end of the recording.",
  422: "The Idempotency-Key was already used with a different body.",
  429: "Rate limit exceeded.",
  500: "Internal error.",
  503: "Temporarily unavailable.",
};

/** The refusals that follow from what a route is, and those it names. */
function errorStatuses(route: Route): number[] {
  const hasInput = route.body || route.list || Object.keys(route.query ?? {}).length > 0;
  const implied = [401, 403, 429, 500, 503];
  if (hasInput) implied.push(400);
  if (route.params || route.list?.kind === "page") implied.push(404);
  if (route.body) implied.push(413, 415);
  if (route.isIdempotent) implied.push(400, 409, 422);
  return [...new Set([...implied, ...(route.errors ?? [])])].sort((a, b) => a - b);
}

function responsesOf(route: Route): Json {
  const success = Object.entries(route.responses).map(([status, schema]) => [
    status,
    {
      description: status === "304" ? "Not modified" : schema ? "Success" : "Success, no body",
      headers: headersOf(Number(status)),
      ...(schema ? { content: { ...contentOf(route, toOpenApi(schema)), ...formsOf(route, status) } } : {}),
    },
  ]);
  const isReplay = route.path === "/api/v1/partner/outbound-events/";
  const schema = { $ref: `#/components/schemas/${isReplay ? "ReplayError" : "Error"}` };
  const failures = errorStatuses(route).map((status) => [
    String(status),
    {
      description: errorTexts[status] ?? "Error",
      headers: headersOf(status),
      content: { "application/json": { schema } },
    },
  ]);
  return Object.fromEntries([...success, ...failures]);
}

const contentOf = ({ produces = ["application/json"] }: Route, schema: unknown): Json =>
  Object.fromEntries(produces.map((type) => [type, { schema }]));

const formsOf = ({ otherForms = {} }: Route, status: string): Json =>
  status === "200"
    ? Object.fromEntries(Object.entries(otherForms).map(([type, schema]) => [type, { schema: toOpenApi(schema) }]))
    : {};

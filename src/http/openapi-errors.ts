import { Type } from "@sinclair/typebox";
import { errorCodes } from "../lib/errors.ts";
import { refTo } from "./schemas.ts";

/** The three error bodies of the service, for the description. */
export const ErrorBody = Type.Object(
  {
    code: Type.String({
      description: "Stable, for programs. More codes may be added.",
      examples: ["validation_error"],
      "x-extensible-enum": [...errorCodes],
    }),
    detail: Type.String({ description: "For people; may change." }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Unsafe<Record<string, string[]>>({
        type: "object",
        additionalProperties: { type: "array", items: { type: "string" } },
        description: "Only with validation_error: messages by field; cross-field messages under non_field_errors.",
      }),
    ),
  },
  { $id: "Error", additionalProperties: true },
);

export const OAuthError = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { $id: "OAuthError", description: "Errors of the token endpoints (RFC 6749)." },
);

const ReplayErrorDetail = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    request_id: Type.String(),
    oldest_available_cursor: Type.Optional(Type.String({ format: "uuid", description: "Only with cursor_expired." })),
  },
  { $id: "ReplayErrorDetail", additionalProperties: true },
);

export const ReplayError = Type.Object({ error: refTo(ReplayErrorDetail) }, { $id: "ReplayError" });

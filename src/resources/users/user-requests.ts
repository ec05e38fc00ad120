import { type Static, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";
import { describedAs, patched, refTo, StringEnum } from "../../http/schemas.ts";

const GivenRole = StringEnum("UserRequestRoleEnum", ["VIEWER", "USER"]);

const changeable = {
  first_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
  last_name: Type.Optional(Type.String({ maxLength: 100, default: "" })),
  phone_number: Type.Optional(Type.String({ maxLength: 32, default: "" })),
  role: Type.Optional(
    describedAs(
      Type.String({ default: "USER" }),
      Type.Unsafe({ allOf: [refTo(GivenRole)], description: "In any case.", default: "USER" }),
    ),
  ),
  /** Refused by its presence, whatever its value: only the person sets it. */
  password: Type.Optional(Type.Never({ [messageKeyword]: "A password cannot be set through this API." })),
};

export const UserRequest = Type.Object(
  {
    email: Type.String({ format: "email", description: "Compared case-insensitively and stored in lower case." }),
    ...changeable,
  },
  { $id: "UserRequest" },
);
export type UserRequest = Static<typeof UserRequest>;

export const PatchedUserRequest = patched("PatchedUserRequest", changeable);
export type PatchedUserRequest = Static<typeof PatchedUserRequest>;

/** Fields of the record that no call writes; what the service derives or moves by itself is not among them. */
export const readOnlyUserFields = ["id", "email", "is_active", "portal_active", "created_at"] as const;

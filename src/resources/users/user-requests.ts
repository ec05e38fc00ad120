import { type Static, Type } from "@sinclair/typebox";
import { messageKeyword } from "../../http/field-errors.ts";

const name = { maxLength: 100 };
const phoneNumber = { maxLength: 32 };
const role = { description: "VIEWER or USER, in any case.", examples: ["USER"] };
/** Refused by its presence, whatever its value: only the person sets it. */
const password = Type.Optional(Type.Never({ [messageKeyword]: "A password cannot be set through this API." }));

export const UserRequest = Type.Object(
  {
    email: Type.String({ format: "email", description: "Compared without case and kept in lower case." }),
    first_name: Type.Optional(Type.String({ ...name, default: "" })),
    last_name: Type.Optional(Type.String({ ...name, default: "" })),
    phone_number: Type.Optional(Type.String({ ...phoneNumber, default: "" })),
    role: Type.Optional(Type.String({ ...role, default: "USER" })),
    password,
  },
  { $id: "UserRequest" },
);
export type UserRequest = Static<typeof UserRequest>;

export const PatchedUserRequest = Type.Object(
  {
    first_name: Type.Optional(Type.String(name)),
    last_name: Type.Optional(Type.String(name)),
    phone_number: Type.Optional(Type.String(phoneNumber)),
    role: Type.Optional(Type.String(role)),
    password,
  },
  { $id: "PatchedUserRequest" },
);
export type PatchedUserRequest = Static<typeof PatchedUserRequest>;

/** Fields of the record that no call writes; what the service derives or moves by itself is not among them. */
export const readOnlyUserFields = ["id", "email", "is_active", "portal_active", "created_at"] as const;

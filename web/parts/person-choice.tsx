import { useState } from "preact/hooks";
import { get } from "../api/client.ts";
import type { Page, User } from "../api/types.ts";
import { useDebounced } from "../state/debounced.ts";
import { useLoaded } from "../state/loaded.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { Choice, Field } from "./field.tsx";

const nameOf = ({ full_name, email }: User): string => (full_name === "" ? email : `${full_name} (${email})`);

/** A member, found by the service: an organization may have more of them than a list holds. */
export function PersonChoice({ value, onChange }: { value: string; onChange(userId: string): void }) {
  const [search, setSearch] = useState("");
  const path = `/api/v1/auth/users/?page_size=50&ordering=last_name,first_name&search=${encodeURIComponent(useDebounced(search))}`;
  const users = useLoaded(path, () => get<Page<User>>(path));
  const found = users.kind === "ready" ? users.value.results : [];
  return (
    <>
      <Field label={texts("findPerson")} type="search" value={search} onInput={setSearch} />
      <Choice
        label={texts("person")}
        value={value}
        onChange={onChange}
        options={[["", texts("choosePerson")], ...found.map((user) => [user.id, nameOf(user)] as const)]}
      />
    </>
  );
}

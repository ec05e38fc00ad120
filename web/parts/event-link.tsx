import { usePath } from "../state/router.ts";
import { Link } from "./link.tsx";

/** Opens an event of the log on the page of its integration. */
export function EventLink({ id, type }: { id: string; type: string | null }) {
  const path = usePath();
  return (
    <span>
      <Link to={`${path}?event=${id}`}>{type ?? "–"}</Link>
      <br />
      <small class="long">{id}</small>
    </span>
  );
}

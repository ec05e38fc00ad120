import type { ComponentChildren } from "preact";
import { usePaged } from "../state/paged.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { Empty, Failure, Loading } from "./states.tsx";

interface PagedListProps<T> {
  path: string;
  empty: string;
  /** Draws the rows; `reload` shows what a change has made of them. */
  children: (rows: readonly T[], reload: () => void) => ComponentChildren;
}

/** A list of the service with its states, and a button for the rows that are not there yet. */
export function PagedList<T>({ path, empty, children }: PagedListProps<T>) {
  const { list, more } = usePaged<T>(path);
  const submission = useSubmit();
  if (list.kind === "loading") return <Loading />;
  if (list.kind === "failed") return <Failure error={list.error} onRetry={list.reload} />;
  if (list.value.results.length === 0) return <Empty>{empty}</Empty>;
  return (
    <>
      {children(list.value.results, list.reload)}
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {more && (
        <button type="button" disabled={submission.isBusy} onClick={() => void submission.run(more)}>
          {common("more")}
        </button>
      )}
    </>
  );
}

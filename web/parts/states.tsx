import type { ComponentChildren } from "preact";
import { Refusal, Unreachable } from "../api/client.ts";
import { common } from "../texts/common.ts";

/** What a page shows while it has nothing else to show. */
export const Loading = () => (
  <p class="state" role="status">
    {common("loading")}
  </p>
);

export const Empty = ({ children }: { children?: ComponentChildren }) => (
  <p class="state">{children ?? common("nothing")}</p>
);

const reasonOf = (error: unknown): string => {
  if (error instanceof Unreachable) return common("unreachable");
  if (error instanceof Refusal && error.status === 404) return common("notFound");
  return error instanceof Refusal ? error.message : common("failed");
};

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div class="state" role="alert">
      <p>{reasonOf(error)}</p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {common("retry")}
        </button>
      )}
    </div>
  );
}

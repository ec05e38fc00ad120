import { useState } from "preact/hooks";
import { Refusal } from "../api/client.ts";

export interface Submission {
  isBusy: boolean;
  /** What stands with no field of the form; undefined when nothing went wrong. */
  failure: unknown;
  /** The message that belongs to a field. */
  problem(field: string): string | undefined;
  /** Tells whether it went well. */
  run(action: () => Promise<void>): Promise<boolean>;
  clear(): void;
}

/** Sends a form: one at a time, with what the service refused shown at the fields it names. */
export function useSubmit(shownFields: readonly string[] = []): Submission {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const fields = error instanceof Refusal ? error.fields : {};
  const messagesOf = (field: string): string[] =>
    Object.entries(fields).flatMap(([name, texts]) => (name === field || name.startsWith(`${field}.`) ? texts : []));
  const isShown = shownFields.some((field) => messagesOf(field).length > 0);

  async function run(action: () => Promise<void>): Promise<boolean> {
    if (isBusy) return false;
    setBusy(true);
    setError(undefined);
    try {
      await action();
      return true;
    } catch (caught) {
      setError(caught);
      return false;
    } finally {
      setBusy(false);
    }
  }
  return {
    isBusy,
    failure: isShown ? undefined : error,
    problem: (field) => messagesOf(field)[0],
    run,
    clear: () => setError(undefined),
  };
}

import { useEffect, useRef, useState } from "preact/hooks";
import { common } from "../texts/common.ts";

/** Asks once more in its own place, so that a single slip deletes nothing. */
export function DeleteButton({
  onDelete,
  disabled = false,
  label = common("delete"),
  question = common("confirmDelete"),
}: {
  onDelete(): void;
  disabled?: boolean;
  label?: string;
  question?: string;
}) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isAsking) cancel.current?.focus();
  }, [isAsking]);

  if (!isAsking) {
    return (
      <button type="button" class="danger" disabled={disabled} onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  }
  return (
    <fieldset class="confirm">
      <legend>{question}</legend>
      <button type="button" ref={cancel} onClick={() => setAsking(false)}>
        {common("cancel")}
      </button>
      <button type="button" class="danger" disabled={disabled} onClick={onDelete}>
        {label}
      </button>
    </fieldset>
  );
}

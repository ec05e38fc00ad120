import { useRef, useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import { useSubmit } from "../state/submit.ts";
import { assignmentTexts } from "../texts/assignments.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { deviceListTexts } from "../texts/devices.ts";
import { showNumber } from "../texts/format.ts";
import { BulkOutcome } from "./bulk-outcome.tsx";
import { type BulkResult, runBulk } from "./bulk-run.ts";
import { DeleteButton } from "./delete-button.tsx";
import { parseTags } from "./device-filter.ts";
import { Choice, Field } from "./field.tsx";
import { PersonChoice } from "./person-choice.tsx";
import { Failure } from "./states.tsx";

type Action = "tag" | "untag" | "assign" | "delete";
type AssignRole = "owner" | "assigned";

interface BulkBarProps {
  /** IMEIs of the chosen devices. */
  chosen: ReadonlySet<string>;
  /** Those that went through are no longer chosen. */
  onDone(results: readonly BulkResult[]): void;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const waitAfter = (error: unknown): number | undefined =>
  error instanceof Refusal && error.status === 429 ? (error.retryAfterSeconds ?? 1) : undefined;

/** Does the same to all chosen devices, shows how far it has come, and how it went with each. */
export function BulkBar({ chosen, onDone }: BulkBarProps) {
  const [action, setAction] = useState<Action>("tag");
  const [tags, setTags] = useState("");
  const [userId, setUserId] = useState("");
  const [role, setRole] = useState<AssignRole>("assigned");
  const [running, setRunning] = useState<{ total: number; results: readonly BulkResult[] } | undefined>();
  const isStopped = useRef(false);
  const submission = useSubmit(["tags", "user_id"]);
  const named = parseTags(tags);
  const isReady = action === "delete" || (action === "assign" ? userId !== "" : named.length > 0);

  async function run(): Promise<void> {
    const uids = [...chosen];
    const details = action === "assign" ? { user_id: userId, role } : action === "delete" ? {} : { tags: named };
    isStopped.current = false;
    setRunning({ total: uids.length, results: [] });
    await submission.run(async () => {
      const results = await runBulk({
        uids,
        send: async (some) =>
          (await post<{ results: BulkResult[] }>("/console/api/devices/bulk/", { action, uids: some, ...details }))
            .results,
        onProgress: (so) => setRunning({ total: uids.length, results: so }),
        isStopped: () => isStopped.current,
        waitAfter,
        pause,
      });
      onDone(results);
    });
  }

  const count = showNumber(chosen.size, 0);
  return (
    <section class="card" aria-label={texts("bulk")}>
      <div class="columns">
        <Choice<Action>
          label={texts("action")}
          value={action}
          onChange={setAction}
          disabled={submission.isBusy}
          options={[
            ["tag", texts("tag")],
            ["untag", texts("untag")],
            ["assign", texts("assign")],
            ["delete", texts("deleteAll")],
          ]}
        />
        {(action === "tag" || action === "untag") && (
          <Field
            label={deviceListTexts("tags")}
            hint={deviceListTexts("tagsHint")}
            autocomplete="off"
            value={tags}
            onInput={setTags}
            problem={submission.problem("tags")}
          />
        )}
        {action === "assign" && <PersonChoice value={userId} onChange={setUserId} />}
        {action === "assign" && (
          <Choice<AssignRole>
            label={texts("role")}
            value={role}
            onChange={setRole}
            options={[
              ["assigned", assignmentTexts("assigned")],
              ["owner", assignmentTexts("owner")],
            ]}
          />
        )}
      </div>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {running && submission.isBusy && (
        <div class="progress" role="status">
          <progress aria-label={texts("bulk")} max={running.total} value={running.results.length} />
          <span>
            {texts("progress", {
              done: showNumber(running.results.length, 0),
              total: showNumber(running.total, 0),
            })}
          </span>
          <button
            type="button"
            onClick={() => {
              isStopped.current = true;
            }}
          >
            {texts("stop")}
          </button>
        </div>
      )}
      {running && !submission.isBusy && <BulkOutcome results={running.results} total={running.total} />}
      {!submission.isBusy && chosen.size > 0 && (
        <div class="actions">
          {action === "delete" ? (
            <DeleteButton question={texts("confirmBulkDelete", { count })} onDelete={() => void run()} />
          ) : (
            <button type="button" class="primary" disabled={!isReady} onClick={() => void run()}>
              {texts("apply")}
            </button>
          )}
        </div>
      )}
    </section>
  );
}

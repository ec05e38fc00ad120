import { get, remove } from "../api/client.ts";
import type { SessionEntry } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { useNow } from "../state/now.ts";
import { useSubmit } from "../state/submit.ts";
import { accountTexts as texts } from "../texts/account.ts";
import { showAge, showTime } from "../texts/format.ts";
import { Failure, Loading } from "./states.tsx";
import { describeAgent } from "./user-agent.ts";

/** Where the reader is signed in; every session but this one can be ended here. */
export function AccountSessions({ round }: { round: number }) {
  const sessions = useLoaded(`sessions ${round}`, () => get<SessionEntry[]>("/console/api/sessions/"));
  const submission = useSubmit();
  const nowMs = useNow();
  if (sessions.kind === "loading") return <Loading />;
  if (sessions.kind === "failed") return <Failure error={sessions.error} onRetry={sessions.reload} />;
  const end = (id: string): Promise<boolean> =>
    submission.run(async () => {
      await remove(`/console/api/sessions/${id}/`);
      sessions.reload();
    });
  return (
    <section class="card" aria-labelledby="sessions">
      <h2 id="sessions">{texts("sessions")}</h2>
      <table class="stack">
        <tbody>
          {sessions.value.map(({ id, user_agent, ip, created_at, last_used_at, current }) => (
            <tr key={id}>
              <td>
                {describeAgent(user_agent)}
                <br />
                <small>{ip}</small>
              </td>
              <td>
                {texts("lastUsed", { age: showAge(last_used_at, nowMs) })}
                <br />
                <small>{texts("since", { time: showTime(created_at) })}</small>
              </td>
              <td class="row-action">
                {current ? (
                  <strong>{texts("thisSession")}</strong>
                ) : (
                  <button
                    type="button"
                    aria-label={texts("endSession", { agent: describeAgent(user_agent) })}
                    disabled={submission.isBusy}
                    onClick={() => void end(id)}
                  >
                    {texts("end")}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
    </section>
  );
}

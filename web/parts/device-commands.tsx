import { useState } from "preact/hooks";
import type { MetricKey } from "../../src/codecs/metric-keys.ts";
import { get, remove } from "../api/client.ts";
import type { Capability, Command, Page } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { usePolling, useStreamEvent } from "../state/stream-events.ts";
import { showValue, wordFor } from "../texts/command-words.ts";
import { commandTexts as texts } from "../texts/commands.ts";
import { common } from "../texts/common.ts";
import { readerZone, showNumber, showTime } from "../texts/format.ts";
import { metricName, metricUnit } from "../texts/metrics.ts";
import { CommandForm } from "./command-form.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

interface DeviceCommandsProps {
  uid: string;
  isOnline: boolean;
  capabilities: readonly Capability[];
  canAct: boolean;
  /** A command has reached its end: settings may have changed. */
  onEnd(): void;
}

const pollMs = 4000;
/** What has its own place on the page. */
const elsewhere: ReadonlySet<string> = new Set(["send_message"]);

const statusText = (status: Command["status"]): string => texts(status === "sent" ? "sentState" : status);

/** A reading that a measurement brought, or why there is none. */
function resultOf({ result }: Command): string {
  if (!result) return "";
  if (result.reason === "no_reading") return texts("noReading");
  const metrics = (result.metrics ?? {}) as Partial<Record<MetricKey, number>>;
  const shown = Object.entries(metrics).map(([name, value]) => {
    const metric = name as MetricKey;
    return `${metricName(metric)} ${showNumber(value)} ${metricUnit(metric)}`;
  });
  return shown.length === 0 ? "" : texts("result", { result: shown.join(", ") });
}

function paramsText({ params }: Command): string {
  const given = params as Record<string, unknown>;
  if (given.redacted === true) return texts("hidden");
  return Object.keys(given).length === 0 ? "" : showValue(given);
}

/** Newer versions replace older ones; the newest command comes first. */
function merge(known: readonly Command[], more: readonly Command[]): Command[] {
  const byId = new Map(known.map((command) => [command.command_uuid, command]));
  for (const command of more) {
    // A final status never changes, whatever arrives late.
    if (!byId.get(command.command_uuid)?.terminal || command.terminal) byId.set(command.command_uuid, command);
  }
  return [...byId.values()].toSorted((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));
}

/** Commands to the device, each followed until its end, and those of the past. */
export function DeviceCommands({ uid, isOnline, capabilities, canAct, onEnd }: DeviceCommandsProps) {
  const base = `/api/v1/devices/${uid}/commands/`;
  const read = (): Promise<Page<Command>> => get<Page<Command>>(`${base}?page_size=20`);
  const first = useLoaded(base, read);
  const [changed, setChanged] = useState<readonly Command[]>([]);
  const [older, setOlder] = useState<Page<Command> | undefined>();
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<unknown>();
  const add = (more: readonly Command[]): void => {
    setChanged((known) => merge(known, more));
    if (more.some(({ terminal }) => terminal)) onEnd();
  };
  useStreamEvent<Command>("command", (command) => command.device_uid === uid && add([command]));
  const loaded = [...(first.kind === "ready" ? first.value.results : []), ...(older?.results ?? [])];
  const commands = merge(loaded, changed).filter(({ command_uuid }) => !removed.has(command_uuid));
  usePolling(
    commands.some(({ terminal }) => !terminal),
    pollMs,
    // The next round tries again.
    () =>
      void read()
        .then(({ results }) => add(results))
        .catch(() => undefined),
  );
  const next = older ? older.next : first.kind === "ready" ? first.value.next : null;
  async function loadMore(address: string): Promise<void> {
    const { pathname, search } = new URL(address);
    const page = await get<Page<Command>>(pathname + search);
    setOlder({ ...page, results: [...(older?.results ?? []), ...page.results] });
  }
  async function withdraw(id: string): Promise<void> {
    setFailure(undefined);
    try {
      await remove(`${base}${id}/`);
      setRemoved((known) => new Set([...known, id]));
    } catch (error) {
      setFailure(error);
    }
  }

  const offered = capabilities.filter(
    ({ kind, supported, code }) => kind === "command" && supported && !elsewhere.has(code),
  );
  return (
    <section class="card" aria-labelledby="commands" id="commands-part">
      <h2 id="commands">{texts("title")}</h2>
      {canAct && offered.length === 0 && <p class="hint">{texts("unsupported")}</p>}
      {canAct && offered.length > 0 && (
        <CommandForm base={base} commands={offered} isOnline={isOnline} onSent={(command) => add([command])} />
      )}
      <h3>{texts("history")}</h3>
      {first.kind === "loading" && <Loading />}
      {first.kind === "failed" && <Failure error={first.error} onRetry={first.reload} />}
      {failure !== undefined && <Failure error={failure} />}
      {first.kind === "ready" && commands.length === 0 && <Empty>{texts("none")}</Empty>}
      <ul class="commands">
        {commands.map((command) => (
          <li key={command.command_uuid}>
            <strong>{wordFor(command.command_type)}</strong> <small>{paramsText(command)}</small>
            <p class={`delivery ${command.status}`}>
              <span aria-hidden="true">{command.status === "ack_ok" ? "✓ " : command.terminal ? "✕ " : "… "}</span>
              {statusText(command.status)}
              {command.error && `: ${command.error.message}`}
              {command.status === "pending" &&
                command.queue_position !== null &&
                ` · ${texts("position", { number: command.queue_position })}`}
            </p>
            {resultOf(command) !== "" && <p>{resultOf(command)}</p>}
            <small>
              <time dateTime={command.created_at}>{showTime(command.created_at, readerZone())}</time>
            </small>
            {canAct && command.status === "pending" && (
              <button type="button" class="plain" onClick={() => void withdraw(command.command_uuid)}>
                {texts("withdraw")}
              </button>
            )}
          </li>
        ))}
      </ul>
      {next !== null && (
        <button type="button" onClick={() => void loadMore(next)}>
          {common("more")}
        </button>
      )}
    </section>
  );
}

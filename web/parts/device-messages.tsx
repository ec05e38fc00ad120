import { useState } from "preact/hooks";
import { get, remove } from "../api/client.ts";
import type { Capability, Message, Page } from "../api/types.ts";
import { useLoaded } from "../state/loaded.ts";
import { usePolling, useStreamEvent } from "../state/stream-events.ts";
import { messageTexts as texts } from "../texts/messages.ts";
import { isUnderWay, mergeMessages } from "./conversation.ts";
import { MessageBubble } from "./message-bubble.tsx";
import { MessageComposer } from "./message-composer.tsx";
import { MessageRecorder } from "./message-recorder.tsx";
import { Empty, Failure, Loading } from "./states.tsx";

interface DeviceMessagesProps {
  uid: string;
  capabilities: readonly Capability[];
  /** Whether this person may write to the device. */
  canAct: boolean;
}

const pollMs = 5000;
/** As many as one sees at once; earlier ones are a click away. */
const pageSize = 12;

/** Texts, speech and recordings to and from a device, as a conversation with the newest at the end. */
export function DeviceMessages({ uid, capabilities, canAct }: DeviceMessagesProps) {
  const base = `/api/v1/devices/${uid}/messages/`;
  const first = useLoaded(base, () => get<Page<Message>>(`${base}?page_size=${pageSize}`));
  const [changed, setChanged] = useState<readonly Message[]>([]);
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const [earlier, setEarlier] = useState<Page<Message> | undefined>();
  const add = (message: Message): void => setChanged((known) => mergeMessages(known, [message]));
  useStreamEvent<Message>("message", (message) => message.device_uid === uid && add(message));

  const loaded = first.kind === "ready" ? first.value.results : [];
  const messages = mergeMessages(mergeMessages(earlier?.results ?? [], loaded), changed).filter(
    ({ id }) => !removed.has(id),
  );
  const next = earlier ? earlier.next : first.kind === "ready" ? first.value.next : null;
  usePolling(messages.some(isUnderWay), pollMs, () => {
    void get<Page<Message>>(`${base}?page_size=${pageSize}`)
      .then(({ results }) => setChanged((known) => mergeMessages(known, results)))
      // The next round tries again.
      .catch(() => undefined);
  });

  async function loadEarlier(address: string): Promise<void> {
    const { pathname, search } = new URL(address);
    const page = await get<Page<Message>>(pathname + search);
    setEarlier({ ...page, results: [...(earlier?.results ?? []), ...page.results] });
  }
  async function removeMessage(id: string): Promise<void> {
    await remove(`${base}${id}/`);
    setRemoved((known) => new Set([...known, id]));
  }

  const supported = capabilities.filter(({ kind, supported: is }) => kind === "messaging" && is);
  const find = (code: string): Capability | undefined => supported.find((one) => one.code === code);
  return (
    <section class="card" aria-labelledby="messages" id="messages-part">
      <h2 id="messages">{texts("title")}</h2>
      {first.kind === "loading" && <Loading />}
      {first.kind === "failed" && <Failure error={first.error} onRetry={first.reload} />}
      {first.kind === "ready" && messages.length === 0 && <Empty>{texts("none")}</Empty>}
      {next !== null && (
        <button type="button" class="plain" onClick={() => void loadEarlier(next)}>
          {texts("earlier")}
        </button>
      )}
      {messages.length > 0 && (
        <ul class="conversation">
          {messages.map((message) => (
            <MessageBubble
              key={message.id}
              message={message}
              {...(canAct ? { onRemove: () => void removeMessage(message.id) } : {})}
            />
          ))}
        </ul>
      )}
      {canAct && supported.length === 0 && <p class="hint">{texts("unsupported")}</p>}
      {canAct && (find("text") || find("tts")) && (
        <MessageComposer base={base} text={find("text")} speech={find("tts")} onSent={add} />
      )}
      {canAct && find("voice") && (
        <MessageRecorder base={base} maxMs={find("voice")?.max_duration_ms ?? 30_000} onSent={add} />
      )}
    </section>
  );
}

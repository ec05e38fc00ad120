import type { Message } from "../api/types.ts";
import { common } from "../texts/common.ts";
import { readerZone, showNumber, showTime } from "../texts/format.ts";
import { messageTexts as texts } from "../texts/messages.ts";

/** Browsers do not play what watches record; the service turns it into a form that they do. */
const playable = (url: string): string => `${url}?format=wav`;

/** One message: what, from whom, when, and whether it has arrived. */
export function MessageBubble({ message, onRemove }: { message: Message; onRemove?: () => void }) {
  const { direction, audio, text, is_tts, sender_name, ts, device_delivery_status: status, failure_reason } = message;
  return (
    <li class={`bubble ${direction}`}>
      <p class="meta">
        <strong>{sender_name}</strong> <time dateTime={ts}>{showTime(ts, readerZone())}</time>
        {message.message_type === "voice" && (
          <small>
            {" "}
            {texts(is_tts ? "spoken" : "recorded")}
            {audio?.duration_ms != null &&
              ` · ${texts("seconds", { seconds: showNumber(audio.duration_ms / 1000, 0) })}`}
          </small>
        )}
      </p>
      {text !== null && <p>{text}</p>}
      {audio?.available && (
        // What is said in it is in the text above, or known to nobody but the two who speak.
        <audio
          controls
          preload="none"
          src={playable(audio.url)}
          aria-label={texts("recordingOf", { name: sender_name })}
        >
          <track kind="captions" />
        </audio>
      )}
      {audio && !audio.available && status !== "failed" && <p class="hint">{texts("notYetSpoken")}</p>}
      {direction === "outbound" && (
        <p class={`delivery ${status}`}>
          <span aria-hidden="true">{status === "delivered" ? "✓ " : status === "failed" ? "✕ " : "… "}</span>
          {texts(status)}
          {failure_reason !== null && `: ${texts(failure_reason)}`}
        </p>
      )}
      {onRemove && (
        <button type="button" class="plain remove" title={texts("delete")} onClick={onRemove}>
          {common("delete")}
        </button>
      )}
    </li>
  );
}

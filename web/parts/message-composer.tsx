import { useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { Capability, Message } from "../api/types.ts";
import { locale } from "../texts/locale.ts";
import { messageTexts as texts } from "../texts/messages.ts";
import { Choice } from "./field.tsx";
import { Failure } from "./states.tsx";

interface MessageComposerProps {
  /** The address of the messages of the device. */
  base: string;
  text: Capability | undefined;
  speech: Capability | undefined;
  onSent(message: Message): void;
}

const languageName = (code: string): string =>
  new Intl.DisplayNames(locale.get(), { type: "language" }).of(code) ?? code;

/** One field for both: what is written can be shown on the watch, or spoken by it. */
export function MessageComposer({ base, text, speech, onSent }: MessageComposerProps) {
  const languages = speech?.languages ?? [];
  const [words, setWords] = useState("");
  const [language, setLanguage] = useState(languages.includes(locale.get()) ? locale.get() : (languages[0] ?? ""));
  const [problem, setProblem] = useState("");
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // Characters as people count them, and as the API does.
  const count = [...words].length;

  async function send(path: string, max: number, body: Record<string, unknown>): Promise<void> {
    setFailure(undefined);
    if (words.trim() === "") return setProblem(texts("empty"));
    if (count > max) return setProblem(texts("tooLong", { max }));
    setProblem("");
    setBusy(true);
    try {
      onSent(await post<Message>(`${base}${path}`, { text: words, ...body }));
      setWords("");
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }
  const textMax = text?.max_length ?? 200;
  const speechMax = speech?.max_length ?? 500;
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send("send-text/", textMax, {});
      }}
    >
      <label class="field">
        <span>{texts("compose")}</span>
        <textarea
          rows={3}
          value={words}
          aria-describedby="message-limits"
          {...(problem === "" ? {} : { "aria-invalid": true })}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </label>
      <p class="hint" id="message-limits">
        {texts("limits", { text: textMax, speech: speechMax, count })}
      </p>
      <p class="problem" role="alert">
        {problem}
      </p>
      {failure !== undefined && <Failure error={failure} />}
      <div class="row">
        {text && (
          <button type="submit" class="primary" disabled={isBusy}>
            {texts("sendText")}
          </button>
        )}
        {speech && (
          <button
            type="button"
            disabled={isBusy}
            onClick={() => void send("send-tts/", speechMax, language === "" ? {} : { language })}
          >
            {texts("speak")}
          </button>
        )}
        {speech && languages.length > 1 && (
          <Choice
            label={texts("language")}
            value={language}
            options={languages.map((code) => [code, languageName(code)] as const)}
            onChange={setLanguage}
          />
        )}
      </div>
    </form>
  );
}

import { useId, useState } from "preact/hooks";
import { post, Refusal } from "../api/client.ts";
import type { ImportError } from "../api/types.ts";
import { useSubmit } from "../state/submit.ts";
import { common } from "../texts/common.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { showNumber } from "../texts/format.ts";
import { type FilePreview, maxImportBytes, previewFile, templateAddress } from "./import-file.ts";
import { ImportErrors, ImportRows } from "./import-preview.tsx";
import { Failure } from "./states.tsx";

interface ImportAnswer {
  created: number;
  updated: number;
  errors: ImportError[];
}

interface Chosen {
  name: string;
  text: string;
  preview: FilePreview;
  /** What the service would do; undefined while it is being asked. */
  answer: ImportAnswer | undefined;
}

const path = "/console/api/devices/import/";
const csv = (text: string): Blob => new Blob([text], { type: "text/csv" });

/** Registers many devices from a file: first the service says what it would do, then it does all of it or nothing. */
export function DeviceImport({ onDone, onClose }: { onDone(notice: string): void; onClose(): void }) {
  const id = useId();
  const [chosen, setChosen] = useState<Chosen | undefined>();
  const [isOver, setOver] = useState(false);
  const [isWriting, setWriting] = useState(false);
  const [problem, setProblem] = useState("");
  const submission = useSubmit();

  async function choose(file: File | undefined): Promise<void> {
    if (!file) return;
    setProblem("");
    setChosen(undefined);
    if (file.size > maxImportBytes) return setProblem(texts("tooLarge"));
    await submission.run(async () => {
      const text = await file.text();
      const read = { name: file.name, text, preview: previewFile(text) };
      setChosen({ ...read, answer: undefined });
      setChosen({ ...read, answer: await post<ImportAnswer>(`${path}?dry_run=true`, csv(text)) });
    });
  }

  async function write({ text }: Chosen): Promise<void> {
    setWriting(true);
    await submission.run(async () => {
      try {
        const { created, updated } = await post<ImportAnswer>(path, csv(text));
        onDone(texts("imported", { created: showNumber(created, 0), updated: showNumber(updated, 0) }));
      } catch (error) {
        // Something changed since the preview.
        if (!(error instanceof Refusal && Array.isArray(error.body.errors))) throw error;
        setChosen((before) => before && { ...before, answer: error.body as unknown as ImportAnswer });
      }
    });
    setWriting(false);
  }

  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{texts("importTitle")}</h2>
      <p>{texts("importHint")}</p>
      <p>
        <a href={templateAddress} download="devices.csv">
          {texts("template")}
        </a>
      </p>
      <fieldset
        class={isOver ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void choose(event.dataTransfer?.files[0]);
        }}
      >
        <label for={id}>{texts("chooseFile")}</label>
        <input
          id={id}
          type="file"
          accept=".csv,text/csv"
          disabled={submission.isBusy}
          onChange={({ currentTarget }) => {
            void choose(currentTarget.files?.[0]);
            // The same file, corrected, can be chosen again.
            currentTarget.value = "";
          }}
        />
        <span class="hint">{texts("drop")}</span>
      </fieldset>
      <p class="problem" role="alert">
        {problem}
      </p>
      <p class="notice" role="status">
        {submission.isBusy && texts(isWriting ? "importing" : "checking")}
      </p>
      {submission.failure !== undefined && <Failure error={submission.failure} />}
      {chosen && <Preview chosen={chosen} isBusy={submission.isBusy} onWrite={() => void write(chosen)} />}
      <div class="actions">
        <button type="button" onClick={onClose}>
          {common("close")}
        </button>
      </div>
    </section>
  );
}

function Preview({ chosen, isBusy, onWrite }: { chosen: Chosen; isBusy: boolean; onWrite(): void }) {
  const { name, preview, answer } = chosen;
  return (
    <>
      <h3>{texts("preview", { name })}</h3>
      <p>{texts("lines", { count: showNumber(preview.lineCount, 0) })}</p>
      {answer && (
        <p role="status">
          <strong>
            {texts("found", {
              created: showNumber(answer.created, 0),
              updated: showNumber(answer.updated, 0),
              errors: showNumber(answer.errors.length, 0),
            })}
          </strong>
        </p>
      )}
      {answer && answer.errors.length > 0 && <ImportErrors errors={answer.errors} preview={preview} />}
      <ImportRows preview={preview} />
      {answer && answer.errors.length === 0 && preview.lineCount > 0 && (
        <button type="button" class="primary" disabled={isBusy} onClick={onWrite}>
          {texts("doImport", { count: showNumber(answer.created + answer.updated, 0) })}
        </button>
      )}
    </>
  );
}

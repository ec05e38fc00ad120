import type { ImportError } from "../api/types.ts";
import { deviceAdminTexts as texts } from "../texts/device-admin.ts";
import { showNumber } from "../texts/format.ts";
import type { FilePreview } from "./import-file.ts";

const maxShown = 100;

/** What is wrong, by line and field, with the cell it is about. */
export function ImportErrors({ errors, preview }: { errors: readonly ImportError[]; preview: FilePreview }) {
  return (
    <>
      <p class="problem">{texts("nothingWritten")}</p>
      <table class="stack">
        <thead>
          <tr>
            <th scope="col">{texts("line")}</th>
            <th scope="col">{texts("field")}</th>
            <th scope="col">{texts("cell")}</th>
            <th scope="col">{texts("problem")}</th>
          </tr>
        </thead>
        <tbody>
          {errors.slice(0, maxShown).map(({ line, field, message }, index) => (
            <tr key={`${line} ${field} ${index}`}>
              <td data-label={texts("line")}>{line}</td>
              <td data-label={texts("field")}>
                <code>{field}</code>
              </td>
              <td data-label={texts("cell")} class="long">
                {preview.cellAt(line, field) || "–"}
              </td>
              <td data-label={texts("problem")}>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {errors.length > maxShown && (
        <p class="hint">{texts("moreErrors", { count: showNumber(errors.length - maxShown, 0) })}</p>
      )}
    </>
  );
}

/** The first lines as they were read, so that a wrong separator is seen at once. */
export function ImportRows({ preview: { columns, rows } }: { preview: FilePreview }) {
  if (rows.length === 0) return null;
  return (
    <details>
      <summary>{texts("firstLines")}</summary>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{texts("line")}</th>
              {columns.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ line, cells }) => (
              <tr key={line}>
                <td>{line}</td>
                {columns.map((name, index) => (
                  <td key={name}>{cells[index]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

import { common } from "../texts/common.ts";
import { deviceTexts as texts } from "../texts/device.ts";
import { addDays, type Range, ranges, stepDays } from "./time-view.ts";

interface TimeControlsProps {
  range: Range;
  /** The last day that is shown. */
  day: string;
  today: string;
  onChange(range: Range, day: string): void;
}

/** Which stretch of time the map, the charts and the events show. */
export function TimeControls({ range, day, today, onChange }: TimeControlsProps) {
  const step = (count: number): void => {
    const wanted = addDays(day, count * stepDays[range]);
    onChange(range, wanted > today ? today : wanted);
  };
  return (
    <div class="time-controls">
      <fieldset class="ranges">
        <legend class="quiet">{texts("range")}</legend>
        {ranges.map((one) => (
          <button key={one} type="button" aria-pressed={one === range} onClick={() => onChange(one, day)}>
            {texts(one)}
          </button>
        ))}
      </fieldset>
      <div class="row">
        <button type="button" onClick={() => step(-1)}>
          <span aria-hidden="true">← </span>
          {texts("earlier")}
        </button>
        <label class="date">
          <span class="quiet">{texts("date")}</span>
          <input
            type="date"
            value={day}
            max={today}
            onChange={(event) => event.currentTarget.value !== "" && onChange(range, event.currentTarget.value)}
          />
        </label>
        <button type="button" disabled={day >= today} onClick={() => step(1)}>
          {texts("later")}
          <span aria-hidden="true"> →</span>
        </button>
        {day < today && (
          <button type="button" class="plain" onClick={() => onChange(range, today)}>
            {texts("today")}
          </button>
        )}
      </div>
    </div>
  );
}

/** Words for a failure that leaves the rest of the page usable. */
export const PartFailed = ({ onRetry }: { onRetry(): void }) => (
  <p class="problem" role="alert">
    {common("failed")}{" "}
    <button type="button" class="plain" onClick={onRetry}>
      {common("retry")}
    </button>
  </p>
);

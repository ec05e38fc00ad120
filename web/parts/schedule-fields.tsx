import { fenceTexts as texts } from "../texts/geofences.ts";
import { locale } from "../texts/locale.ts";
import {
  dayName,
  newWindow,
  problemOf,
  type Schedule,
  type ScheduleWindow,
  shownEnd,
  storedEnd,
  toggleDay,
  weekDays,
} from "./fence-schedule.ts";
import { Choice, Field } from "./field.tsx";
import { ZoneField } from "./zone-field.tsx";

interface ScheduleFieldsProps {
  /** Null: always. */
  schedule: Schedule | null;
  timezone: string;
  onChange(schedule: Schedule | null): void;
  problem: string | undefined;
}

/** When a fence reports: always, or on certain days at certain times. */
export function ScheduleFields({ schedule, timezone, onChange, problem }: ScheduleFieldsProps) {
  const change = (index: number, window: ScheduleWindow): void => {
    if (schedule) onChange({ ...schedule, windows: schedule.windows.with(index, window) });
  };
  return (
    <>
      <Choice<"always" | "times">
        label={texts("when")}
        value={schedule ? "times" : "always"}
        onChange={(when) => onChange(when === "always" ? null : { timezone, windows: [newWindow()] })}
        options={[
          ["always", texts("always")],
          ["times", texts("atTimes")],
        ]}
      />
      {schedule &&
        // Two windows may be equal: only their place tells them apart.
        Object.entries(schedule.windows).map(([place, window]) => (
          <WindowFields
            key={place}
            window={window}
            onChange={(changed) => change(Number(place), changed)}
            {...(schedule.windows.length > 1
              ? { onRemove: () => onChange({ ...schedule, windows: schedule.windows.toSpliced(Number(place), 1) }) }
              : {})}
          />
        ))}
      {schedule && (
        <>
          <button
            type="button"
            class="plain"
            onClick={() => onChange({ ...schedule, windows: [...schedule.windows, newWindow()] })}
          >
            {texts("addTimes")}
          </button>
          <p class="hint">{texts("overMidnight")}</p>
          <ZoneField
            value={schedule.timezone}
            onInput={(zone) => onChange({ ...schedule, timezone: zone })}
            problem={problem}
          />
        </>
      )}
    </>
  );
}

interface WindowFieldsProps {
  window: ScheduleWindow;
  onChange(window: ScheduleWindow): void;
  onRemove?: () => void;
}

function WindowFields({ window, onChange, onRemove }: WindowFieldsProps) {
  const problem = problemOf(window);
  return (
    <fieldset class="window">
      <legend>{texts("days")}</legend>
      <div class="days">
        {weekDays.map((day) => (
          <label key={day} class="day" title={dayName(day, locale.get(), "long")}>
            <input
              type="checkbox"
              checked={window.days.includes(day)}
              onChange={() => onChange(toggleDay(window, day))}
            />
            <span>{dayName(day, locale.get())}</span>
          </label>
        ))}
      </div>
      <div class="pair">
        <Field
          label={texts("from")}
          type="time"
          required
          value={window.start}
          onInput={(start) => onChange({ ...window, start })}
        />
        <Field
          label={texts("until")}
          type="time"
          required
          value={shownEnd(window.end)}
          onInput={(end) => onChange({ ...window, end: storedEnd(end) })}
        />
      </div>
      {problem && <p class="problem">{texts(problem)}</p>}
      {onRemove && (
        <button type="button" class="plain" onClick={onRemove}>
          {texts("removeTimes")}
        </button>
      )}
    </fieldset>
  );
}

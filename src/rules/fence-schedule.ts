/** As stored with a geofence (section 10). */
export interface FenceSchedule {
  timezone: string;
  windows: readonly FenceWindow[];
}

export interface FenceWindow {
  /** ISO: 1 is Monday, 7 is Sunday. */
  days: readonly number[];
  /** `HH:MM`. */
  start: string;
  /** `HH:MM`; `24:00` is the end of the day; not after `start`: of the day after. */
  end: string;
}

/** Null: always. */
export type ScheduleCheck = (schedule: FenceSchedule | null, tsMs: number) => boolean;

import { session } from "./session.ts";

/** The zone in which times are shown and days begin: the one the reader has chosen, else that of the browser. */
export const readerZone = (): string =>
  session.get()?.preferences.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

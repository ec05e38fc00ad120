const maxLateMs = 15 * 60_000;

/** What is derived from packets is not made from those whose plausible time lies so long before their reception (section 7). */
export const isLate = (tsMs: number, receivedAtMs: number): boolean => receivedAtMs - tsMs > maxLateMs;

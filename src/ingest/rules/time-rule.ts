const mostFutureMs = 2 * 60_000;
const mostPastMs = 30 * 86_400_000;

/** The time of a fact (section 5): that of the device when it is plausible at reception, else the reception. */
export const plausibleTime = (deviceTimeMs: number | null, receivedAtMs: number): number =>
  deviceTimeMs !== null && deviceTimeMs <= receivedAtMs + mostFutureMs && deviceTimeMs >= receivedAtMs - mostPastMs
    ? deviceTimeMs
    : receivedAtMs;

const maxFutureMs = 2 * 60_000;
const maxPastMs = 30 * 86_400_000;

/** The time of a fact (section 5): that of the device when it is plausible at reception, else the reception. */
export const plausibleTime = (deviceTimeMs: number | null, receivedAtMs: number): number =>
  deviceTimeMs !== null && deviceTimeMs <= receivedAtMs + maxFutureMs && deviceTimeMs >= receivedAtMs - maxPastMs
    ? deviceTimeMs
    : receivedAtMs;

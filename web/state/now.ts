import { useEffect, useState } from "preact/hooks";

/** The time, for ages that are shown; it moves every half minute. */
export function useNow(everyMs = 30_000): number {
  const [nowMs, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

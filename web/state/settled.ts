import { useEffect, useRef, useState } from "preact/hooks";

/** A value that changes often, as of at most so long ago; 0: as it is. */
export function useSettled<T>(value: T, everyMs: number): T {
  const [shown, setShown] = useState(value);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    if (everyMs === 0) return undefined;
    setShown(() => latest.current);
    const timer = setInterval(() => setShown(() => latest.current), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return everyMs === 0 ? value : shown;
}

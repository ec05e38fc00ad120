import { useRef } from "preact/hooks";
import type { Loaded } from "./loaded.ts";

/** The last value that was there, while the next one is loaded: a chart that vanishes every five minutes cannot be read. */
export function useKept<T>(loaded: Loaded<T>): T | undefined {
  const kept = useRef<T | undefined>(undefined);
  if (loaded.kind === "ready") kept.current = loaded.value;
  return kept.current;
}

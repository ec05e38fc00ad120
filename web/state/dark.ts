import { useEffect, useState } from "preact/hooks";

/** Whether the reader's device shows dark colours now; many change at sunset. A map keeps the colours it was opened with. */
export function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia("(prefers-color-scheme: dark)").matches);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const read = (): void => setDark(scheme.matches);
    scheme.addEventListener("change", read);
    return () => scheme.removeEventListener("change", read);
  }, []);
  return isDark;
}

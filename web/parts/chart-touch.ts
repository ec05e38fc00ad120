import { type TimeView, viewAfterTouch } from "./time-view.ts";

interface Touched {
  view(): TimeView;
  bounds(): TimeView;
  onView(view: TimeView): void;
}

/** One finger moves the chart in time, two zoom it; the page itself scrolls up and down as ever. Returns the end of it. */
export function followTouch(element: HTMLElement, { view, bounds, onView }: Touched): () => void {
  const fingers = new Map<number, number>();
  const places = (): number[] => {
    const { left } = element.getBoundingClientRect();
    return [...fingers.values()].map((x) => x - left);
  };
  const onDown = (event: PointerEvent): void => {
    if (event.pointerType !== "mouse" && fingers.size < 2) fingers.set(event.pointerId, event.clientX);
  };
  const onMove = (event: PointerEvent): void => {
    if (!fingers.has(event.pointerId)) return;
    const before = places();
    fingers.set(event.pointerId, event.clientX);
    onView(viewAfterTouch(view(), bounds(), before, places(), element.clientWidth));
  };
  const onEnd = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
  };
  element.addEventListener("pointerdown", onDown);
  element.addEventListener("pointermove", onMove);
  for (const kind of ["pointerup", "pointercancel", "pointerleave"] as const) element.addEventListener(kind, onEnd);
  return () => {
    element.removeEventListener("pointerdown", onDown);
    element.removeEventListener("pointermove", onMove);
    for (const kind of ["pointerup", "pointercancel", "pointerleave"] as const)
      element.removeEventListener(kind, onEnd);
  };
}

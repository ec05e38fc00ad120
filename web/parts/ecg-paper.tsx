import { useRef } from "preact/hooks";
import { ecgTexts as texts } from "../texts/ecg.ts";
import { showNumber } from "../texts/format.ts";
import { halfHeightMm, type LeadSamples, mmPerSecond, pathOf, widthMm } from "./ecg-drawing.ts";

export type Calipers = readonly [number, number];

interface EcgPaperProps {
  lead: LeadSamples;
  rateHz: number;
  pixelsPerMm: number;
  /** Seconds from the start. */
  calipers: Calipers;
  onCalipers(calipers: Calipers): void;
}

const stepSeconds = 0.02;
const handleMm = 3;

const place = (calipers: Calipers, index: number, seconds: number): Calipers =>
  index === 0 ? [seconds, calipers[1]] : [calipers[0], seconds];

/** One lead on paper with squares of 1 and 5 mm: 25 mm are a second and 10 mm a millivolt. */
export function EcgPaper({ lead, rateHz, pixelsPerMm, calipers, onCalipers }: EcgPaperProps) {
  const svg = useRef<SVGSVGElement>(null);
  const dragged = useRef<number | undefined>(undefined);
  const seconds = lead.millivolts.length / rateHz;
  const width = widthMm(lead.millivolts.length, rateHz);
  const half = halfHeightMm(lead.millivolts);
  const gridId = `ecg-grid-${lead.name}`;
  const move = (index: number, wanted: number): void =>
    onCalipers(place(calipers, index, Math.min(seconds, Math.max(0, wanted))));
  const secondsAt = (event: PointerEvent): number => {
    const left = svg.current?.getBoundingClientRect().left ?? 0;
    return (event.clientX - left) / pixelsPerMm / mmPerSecond;
  };
  const onKeyDown = (index: number) => (event: KeyboardEvent) => {
    const factor = event.shiftKey ? 10 : 1;
    const direction = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (direction === 0) return;
    event.preventDefault();
    move(index, (calipers[index] as number) + direction * factor * stepSeconds);
  };
  return (
    <svg
      ref={svg}
      class="ecg-paper"
      width={width * pixelsPerMm}
      height={half * 2 * pixelsPerMm}
      viewBox={`0 0 ${width} ${half * 2}`}
    >
      <title>{texts("paper", { name: lead.name, seconds: showNumber(seconds) })}</title>
      <defs>
        <pattern id={`${gridId}-1`} width="1" height="1" patternUnits="userSpaceOnUse">
          <path class="fine" d="M1 0H0V1" />
        </pattern>
        <pattern id={gridId} width="5" height="5" patternUnits="userSpaceOnUse">
          <rect width="5" height="5" fill={`url(#${gridId}-1)`} />
          <path class="bold" d="M5 0H0V5" />
        </pattern>
      </defs>
      <rect width={width} height={half * 2} fill={`url(#${gridId})`} />
      <path class="curve" d={pathOf(lead.millivolts, rateHz, half)} />
      {calipers.map((at, index) => (
        <g
          key={index === 0 ? "first" : "second"}
          class="caliper"
          role="slider"
          tabindex={0}
          aria-label={texts("caliper", { number: index + 1 })}
          aria-valuemin={0}
          aria-valuemax={Math.round(seconds * 1000)}
          aria-valuenow={Math.round(at * 1000)}
          aria-valuetext={`${showNumber(at * 1000, 0)} ms`}
          onKeyDown={onKeyDown(index)}
          onPointerDown={(event) => {
            dragged.current = index;
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={(event) => dragged.current === index && move(index, secondsAt(event))}
          onPointerUp={() => {
            dragged.current = undefined;
          }}
        >
          <rect class="grip" x={at * mmPerSecond - handleMm} y="0" width={handleMm * 2} height={half * 2} />
          <line x1={at * mmPerSecond} x2={at * mmPerSecond} y1="0" y2={half * 2} />
          <circle cx={at * mmPerSecond} cy={handleMm} r="1.4" />
        </g>
      ))}
    </svg>
  );
}

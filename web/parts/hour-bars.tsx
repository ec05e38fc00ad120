import type { DeliveryHealth } from "../api/types.ts";
import { healthTexts as texts } from "../texts/delivery-health.ts";
import { showClock, showNumber } from "../texts/format.ts";

const height = 48;
const step = 10;
const barWidth = 8;

/** Attempts per hour, failed ones on top and hatched: colour is not the only sign. The words say the same. */
export function HourBars({ hours }: { hours: DeliveryHealth["hours"] }) {
  const max = Math.max(1, ...hours.map(({ delivered, failed }) => delivered + failed));
  const sum = (key: "delivered" | "failed"): string =>
    showNumber(
      hours.reduce((total, hour) => total + hour[key], 0),
      0,
    );
  // Few among many must still be seen.
  const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / max) * height));
  return (
    <figure class="hours">
      <svg
        class="hour-bars"
        role="img"
        aria-label={texts("chart", { delivered: sum("delivered"), failed: sum("failed") })}
        viewBox={`0 0 ${hours.length * step} ${height + 1}`}
        preserveAspectRatio="none"
      >
        <defs>
          <pattern id="hatch" width="3" height="3" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="hatch-ground" width="3" height="3" />
            <rect class="hatch-line" width="1" height="3" />
          </pattern>
        </defs>
        <line class="base" x1="0" x2={hours.length * step} y1={height + 0.5} y2={height + 0.5} />
        {hours.map(({ hour, delivered, failed }, index) => {
          const failedHeight = Math.min(height, heightOf(failed));
          const deliveredHeight = Math.min(height - failedHeight, heightOf(delivered));
          return (
            <g key={hour}>
              <title>
                {texts("hour", {
                  hour: showClock(hour),
                  delivered: showNumber(delivered, 0),
                  failed: showNumber(failed, 0),
                })}
              </title>
              <rect
                class="delivered"
                x={index * step + 1}
                y={height - deliveredHeight}
                width={barWidth}
                height={deliveredHeight}
              />
              <rect
                fill="url(#hatch)"
                x={index * step + 1}
                y={height - deliveredHeight - failedHeight}
                width={barWidth}
                height={failedHeight}
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{showClock(hours[0]?.hour ?? "")}</span>
        <span>{showClock(hours.at(-1)?.hour ?? "")}</span>
      </figcaption>
    </figure>
  );
}

import { describe, expect, it } from "vitest";
import { countsOf, mergeMetrics, parseMetrics, renderMetrics } from "./merged-metrics.ts";

const processWith = (packets: number, delay: number, startedAt: number): string => `# HELP packets_total Packets.
# TYPE packets_total counter
packets_total{kind="a \\"b\\" c"} ${packets}
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{le="1"} ${Number(packets <= 1)}
seconds_bucket{le="2"} ${Number(packets <= 2)}
seconds_bucket{le="+Inf"} 1
seconds_sum ${packets}
seconds_count 1
# HELP open Open.
# TYPE open gauge
open ${packets}
# HELP vigil_event_loop_delay_seconds Delay.
# TYPE vigil_event_loop_delay_seconds gauge
vigil_event_loop_delay_seconds ${delay}
# HELP process_start_time_seconds Start.
# TYPE process_start_time_seconds gauge
process_start_time_seconds ${startedAt}
`;

describe("the metrics of several processes", () => {
  it("read as they were written", () => {
    const text = processWith(3, 0.5, 100);
    expect(renderMetrics(parseMetrics(text))).toBe(text);
  });

  it("are summed, but the worst delay and the first start are kept", () => {
    const both = [processWith(1, 0.5, 200), processWith(2, 0.1, 100)].map(parseMetrics);
    const text = renderMetrics(mergeMetrics(both));
    expect(text).toContain('packets_total{kind="a \\"b\\" c"} 3\n');
    expect(text).toContain(
      'seconds_bucket{le="1"} 1\nseconds_bucket{le="2"} 2\nseconds_bucket{le="+Inf"} 2\nseconds_sum 3',
    );
    expect(text).toContain("\nopen 3\n");
    expect(text).toContain("vigil_event_loop_delay_seconds 0.5\n");
    expect(text).toContain("process_start_time_seconds 100\n");
  });

  it("keep the counts of a process that has ended, and not its gauges", () => {
    const ended = countsOf(parseMetrics(processWith(5, 9, 1)));
    const text = renderMetrics(mergeMetrics([ended, parseMetrics(processWith(2, 0.1, 100))]));
    expect(text).toContain('packets_total{kind="a \\"b\\" c"} 7\n');
    expect(text).toContain("\nopen 2\n");
    expect(text).toContain("process_start_time_seconds 100\n");
  });
});

import { freemem } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "../lib/metrics.ts";

export function observeProcess(metrics: Metrics): void {
  const startedAtSeconds = Math.floor(Date.now() / 1000);
  metrics.gauge("process_start_time_seconds", "Start time of the process.", () => startedAtSeconds);
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  metrics.gauge("vigil_memory_available_bytes", "Memory that the machine has left for processes.", freemem);
  // Time in which nobody was served: the longest since the last look.
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  metrics.gauge("vigil_event_loop_delay_seconds", "Maximum delay of the event loop since the last scrape.", () => {
    const seconds = delays.max / 1e9;
    delays.reset();
    return seconds;
  });
  metrics.gauge("process_cpu_seconds", "User and system CPU time spent.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}

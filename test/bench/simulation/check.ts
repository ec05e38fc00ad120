import { collectionsOf, costsOf } from "./fit.ts";
import type { MeasuredRun, MeasuredRuns } from "./measured-run.ts";
import { type Outcome, simulate } from "./scenario.ts";

export interface Pair {
  measured: number;
  simulated: number;
  /** Of what was measured: 0.1 is a tenth too high. */
  error: number;
}

export interface Comparison {
  name: string;
  perSecond: Pair;
  packetsPerBatch: Pair;
  p50Ms: Pair;
  p99Ms: Pair;
  cpuShare: Pair;
}

/** The simulation of each measured run, from nothing but the CPU of the packets and the time of a flush. */
export function checkRuns(measured: MeasuredRuns): Comparison[] {
  return measured.runs.map((run): Comparison => {
    const outcome = simulate({
      cores: measured.cores,
      gateways: 1,
      devices: run.devices,
      organizations: 1,
      rate: run.rate,
      deviceUs: run.deviceUs,
      flushUs: run.flushMs * 1000,
      costs: costsOf(run, measured),
      collections: collectionsOf(run),
      isLogging: run.partners > 0,
      seconds: 3,
    });
    const pair = (key: keyof Outcome & keyof MeasuredRun): Pair => ({
      measured: run[key],
      simulated: outcome[key],
      error: outcome[key] / run[key] - 1,
    });
    return {
      name: nameOf(run),
      perSecond: pair("perSecond"),
      packetsPerBatch: pair("packetsPerBatch"),
      p50Ms: pair("p50Ms"),
      p99Ms: pair("p99Ms"),
      cpuShare: pair("cpuShare"),
    };
  });
}

function nameOf({ devices, rate, partners }: MeasuredRun): string {
  const load = rate === 0 ? "full" : `${rate.toLocaleString("en")} a second`;
  return `${devices.toLocaleString("en")}, ${load}${partners > 0 ? ", with a partner" : ""}`;
}

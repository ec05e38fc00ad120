import type { Page } from "playwright-core";

/** What the main thread of a page did for a while. */
export interface PageFigures {
  framesPerSecond: number;
  /** Tasks that kept the thread for more than 50 ms, and the longest one. */
  longTasks: number;
  longestTaskMs: number;
  /** The longest that a script of ours ran within a slow frame, and where it began. */
  longestScriptMs: number;
  longestScript: string;
  /** How late a timer came: what a person who clicks would have waited. */
  delayP95Ms: number;
  delayMaxMs: number;
  /** Shares of the time in per cent: anything at all, scripts, styles and layout. */
  busy: number;
  scripts: number;
  layout: number;
}

type Observed = Omit<PageFigures, "busy" | "scripts" | "layout">;

const observe = (ms: number): string => `(async () => {
  let [frames, longTasks, longestTaskMs, longestScriptMs, longestScript] = [0, 0, 0, 0, ""];
  const delays = [];
  const tasks = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      longTasks++;
      longestTaskMs = Math.max(longestTaskMs, duration);
    }
  });
  tasks.observe({ type: "longtask" });
  const slowFrames = new PerformanceObserver((list) => {
    for (const frame of list.getEntries()) for (const script of frame.scripts) {
      if (script.duration <= longestScriptMs) continue;
      longestScriptMs = script.duration;
      longestScript = script.invokerType + " " + script.invoker + " " + script.sourceFunctionName + " " + script.sourceURL.split("/").at(-1);
    }
  });
  slowFrames.observe({ type: "long-animation-frame" });
  let isOn = true;
  const frame = () => {
    frames++;
    if (isOn) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const tick = 20;
  let due = performance.now() + tick;
  const timer = setInterval(() => {
    const now = performance.now();
    delays.push(Math.max(0, now - due));
    due = now + tick;
  }, tick);
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ${ms}));
  isOn = false;
  clearInterval(timer);
  tasks.disconnect();
  slowFrames.disconnect();
  const seconds = (performance.now() - started) / 1000;
  delays.sort((a, b) => a - b);
  return {
    framesPerSecond: frames / seconds, longTasks, longestTaskMs, longestScriptMs, longestScript,
    delayP95Ms: delays[Math.floor(delays.length * 0.95)] ?? 0, delayMaxMs: delays.at(-1) ?? 0,
  };
})()`;

const rounded = <T extends object>(figures: T): T =>
  Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      typeof value === "number" ? Math.round(value * 10) / 10 : value,
    ]),
  ) as T;

/** Watches a page. Drawing is the work of another process, and counts only as far as the page waits for it. */
export async function watchPage(page: Page, ms: number): Promise<PageFigures> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const read = async (): Promise<Map<string, number>> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  const before = await read();
  const observed = await page.evaluate<Observed>(observe(ms));
  const after = await read();
  await session.detach();
  const spent = (name: string): number => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const share = (seconds: number): number => (100 * seconds) / spent("Timestamp");
  return rounded({
    ...observed,
    busy: share(spent("TaskDuration")),
    scripts: share(spent("ScriptDuration")),
    layout: share(spent("LayoutDuration") + spent("RecalcStyleDuration")),
  });
}

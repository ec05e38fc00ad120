import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

/** A real browser where one is installed; page tests are skipped by name where none is. */
export const browserPath = [
  process.env.CHROMIUM_PATH ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((path) => path !== "" && existsSync(path));

/** A process of its own draws, in software, as a graphics card would: the page does not wait until its map is drawn. */
export const drawsApart: readonly string[] = [
  "--ignore-gpu-blocklist",
  "--enable-gpu-rasterization",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

export const openBrowser = (drawing: readonly string[] = ["--disable-gpu"]): Promise<Browser> =>
  chromium.launch({
    executablePath: browserPath as string,
    args: [
      "--no-sandbox",
      ...drawing,
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A microphone that hears a beep every second.
      "--use-fake-device-for-media-stream",
    ],
  });

/** A page of an Italian, and what it asks of anybody but the service. */
export async function openPage(browser: Browser, origin: string): Promise<{ page: Page; outside: string[] }> {
  const page = await browser.newPage({ locale: "it-IT" });
  page.setDefaultTimeout(60_000);
  const outside: string[] = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) outside.push(request.url());
  });
  return { page, outside };
}

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { openBrowser } from "./browser.ts";
import { createTestDatabase } from "./database.ts";
import { iwLogin } from "./fleet.ts";
import { type Credentials, fetchTokenOf, type RunningVigil, runVigil, startVigil, vigilJson } from "./vigil-process.ts";
import { openWireDevice, type WireDevice } from "./wire-device.ts";

export type MemberRole = "OWNER" | "ADMIN" | "USER" | "VIEWER";

export const consolePassword = "correct horse battery";
export const emailOf = (role: MemberRole): string => `${role.toLowerCase()}@example.org`;

export interface ConsolePage {
  page: Page;
  /** What the page asked of anybody but the service. */
  outside: string[];
  /** Errors that scripts of the page have thrown. */
  errors: string[];
  close(): Promise<void>;
}

export interface ConsoleWorld {
  http: string;
  slug: string;
  service: RunningVigil;
  /** For the command line, so that it works on the same database. */
  env: Record<string, string>;
  /** As a partner with all scopes. */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  addMember(role: MemberRole, email?: string, slug?: string): Promise<void>;
  /** A real IW watch on the gateway of the service, logged in. */
  openWatch(uid: string): Promise<WireDevice>;
  /** A browser of its own, with nobody signed in. */
  open(options?: BrowserContextOptions): Promise<ConsolePage>;
  /** A browser in which somebody has signed in and sees the given address. */
  openAs(role: MemberRole, path: string, options?: BrowserContextOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

/** The service as a process of its own with an organization, a member of each given role, and a real browser. */
export async function openConsoleWorld(
  roles: readonly MemberRole[],
  settings: Readonly<Record<string, string>> = {},
): Promise<ConsoleWorld> {
  const database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, ...settings };
  const service = await startVigil([], env);
  const slug = "care-co";
  const makeOrganization = ["org", "create", "--name", "Care Co", "--slug", slug, "--timezone", "Europe/Rome"];
  await vigilJson([...makeOrganization, "--feature", "geofence_scoping"], env);
  const credentials = await vigilJson<Credentials>(["integration", "create", "--org", slug, "--name", "App"], env);
  const token = await fetchTokenOf(service.http, credentials);
  let browser: Browser | undefined;

  async function addMember(role: MemberRole, email = emailOf(role), organization = slug): Promise<void> {
    const command = ["user", "create", "--org", organization, "--email", email, "--role", role, "--password-stdin"];
    const { code, stderr } = await runVigil(command, env, `${consolePassword}\n`);
    if (code !== 0) throw new Error(stderr);
  }
  for (const role of roles) await addMember(role);

  async function open(options: BrowserContextOptions = {}): Promise<ConsolePage> {
    browser ??= await openBrowser();
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1280, height: 800 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const outside: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(`${service.http}/`) && !/^(?:data|blob):/.test(url)) outside.push(url);
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    return { page, outside, errors, close: () => context.close() };
  }

  return {
    http: service.http,
    slug,
    service,
    env,
    addMember,
    open,
    async api<T>(method: string, path: string, body?: unknown): Promise<T> {
      const answer = await fetch(`${service.http}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body ? { "content-type": "application/json" } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return (text === "" ? undefined : JSON.parse(text)) as T;
    },
    async openWatch(uid) {
      const port = Number(service.gateway.split(":").at(-1));
      const watch = await openWireDevice(port, "iw", iwLogin(uid));
      await watch.until("IWBP00");
      return watch;
    },
    async openAs(role, path, options) {
      const opened = await open(options);
      await opened.page.goto(`${service.http}${path}`);
      await signIn(opened.page, emailOf(role));
      return opened;
    },
    async close() {
      await browser?.close();
      await service.kill("SIGKILL");
      await database.drop();
    },
  };
}

/** On the page to sign in; ends when the page that was asked for is shown. */
export async function signIn(page: Page, email: string, password = consolePassword): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  // On a phone it is there, but folded away.
  await page.locator("nav").waitFor({ state: "attached" });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds wrong, each with the elements it is about. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    interface Found {
      violations: { id: string; nodes: { html: string }[] }[];
    }
    const { axe } = globalThis as unknown as { axe: { run(): Promise<Found> } };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  });
}

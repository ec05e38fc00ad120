import { readdirSync, readFileSync } from "node:fs";
import {
  type Credentials,
  fetchTokenOf,
  type RunningVigil,
  runVigil,
  startVigil,
  tempFolder,
  vigilJson,
} from "./vigil-process.ts";

/** A party with an organization of its own. */
export interface Party {
  slug: string;
  credentials: Credentials;
  token: string;
}

export interface Answer {
  status: number;
  text: string;
  body: Record<string, unknown>;
  ms: number;
}

/** Ten apart: the ids that watches of one maker tell are cut out of their IMEIs, without the last digit. */
let lastImei = 490_154_203_000_000;
export const nextImei = (): string => {
  lastImei += 10;
  return String(lastImei);
};

export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Whether it comes true within the time. */
export async function comesTrue(isTrue: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isTrue())) {
    if (performance.now() > endMs) return false;
    await pause(50);
  }
  return true;
}

type Environment = Record<string, string | undefined>;

/** The program that is attacked, in a process of its own: everything is done by its sockets and its command line. */
export class AttackedService {
  readonly #env: Environment;
  readonly #folder: Awaited<ReturnType<typeof tempFolder>>;
  #running: RunningVigil | undefined;

  private constructor(folder: Awaited<ReturnType<typeof tempFolder>>, env: Environment) {
    this.#folder = folder;
    this.#env = { VIGIL_LOG_LEVEL: "fatal", VIGIL_GATEWAY_HOST: "127.0.0.1", ...env };
  }

  static async open(env: Environment = {}): Promise<AttackedService> {
    const service = new AttackedService(await tempFolder(), env);
    await service.start();
    return service;
  }

  get dataDir(): string {
    return this.#folder.path;
  }

  get http(): string {
    return this.#process.http;
  }

  get gatewayPort(): number {
    return Number(this.#process.gateway.split(":").at(-1));
  }

  get #process(): RunningVigil {
    if (!this.#running) throw new Error("the service is not running");
    return this.#running;
  }

  async start(env: Environment = {}): Promise<void> {
    this.#running = await startVigil(this.#where, { ...this.#env, ...env });
  }

  async stop(): Promise<void> {
    await this.#running?.kill("SIGTERM");
    this.#running = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#folder.remove();
  }

  get #where(): string[] {
    return ["--data-dir", this.dataDir];
  }

  command<T>(args: readonly string[]): Promise<T> {
    return vigilJson<T>([...args, ...this.#where], this.#env);
  }

  async makeParty(slug: string, ...options: string[]): Promise<Party> {
    await this.command(["org", "create", "--name", slug, "--slug", slug, ...options]);
    const credentials = await this.#makeIntegration(slug, "all");
    return { slug, credentials, token: await this.fetchToken(credentials) };
  }

  fetchToken(credentials: Credentials): Promise<string> {
    return fetchTokenOf(this.http, credentials);
  }

  async tokenWith({ slug }: Party, scopes: string): Promise<string> {
    return this.fetchToken(await this.#makeIntegration(slug, scopes));
  }

  #makeIntegration(slug: string, scopes: string): Promise<Credentials> {
    const args = ["integration", "create", "--org", slug, "--name", `App ${scopes}`, "--scopes", scopes];
    return this.command<Credentials>(args);
  }

  async makePerson({ slug }: Party, email: string, role: string, password: string): Promise<void> {
    const args = ["user", "create", "--org", slug, "--email", email, "--role", role, "--password-stdin"];
    const { code, stderr } = await runVigil([...args, ...this.#where], this.#env, password);
    if (code !== 0) throw new Error(stderr);
  }

  async call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
    const startedMs = performance.now();
    const answer = await fetch(this.http + path, {
      method,
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const ms = Math.round(performance.now() - startedMs);
    return { status: answer.status, text, body: text.startsWith("{") ? JSON.parse(text) : {}, ms };
  }

  tryToRegister(party: Party, body: Record<string, unknown>): Promise<Answer> {
    return this.call("POST", "/api/v1/devices/", party.token, { name: "Watch", ...body });
  }

  /** Registers a watch, and returns its IMEI. */
  async register(party: Party, modelSlug = "iw-h10"): Promise<string> {
    const uid = nextImei();
    const { status, text } = await this.tryToRegister(party, { uid, device_model_slug: modelSlug });
    if (status !== 201) throw new Error(`not registered: ${text}`);
    return uid;
  }

  /** The most memory that any process of the service has had, by the books of Linux. */
  peakMb(): number {
    return peakMbOf(this.#process.process.pid as number);
  }
}

function peakMbOf(pid: number): number {
  const status = (of: string | number): string => {
    try {
      return readFileSync(`/proc/${of}/status`, "utf8");
    } catch {
      return "";
    }
  };
  const children = readdirSync("/proc").filter((entry) => status(entry).includes(`PPid:\t${pid}\n`));
  const own = Number(/VmHWM:\s+(\d+)/.exec(status(pid))?.[1] ?? 0) / 1024;
  return Math.round(Math.max(own, ...children.map((child) => peakMbOf(Number(child)))));
}

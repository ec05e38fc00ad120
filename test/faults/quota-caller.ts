import type pg from "pg";
import { registerFleet } from "../support/fleet.ts";
import { type Credentials, fetchTokenOf, vigilJson } from "../support/vigil-process.ts";

/** Of an hour, which no run reaches: all answers fall into one window. */
const quota = 1500;
const parallel = 4;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Calls every API in turn, as fast as it may and faster, and counts what was allowed. */
export class QuotaCaller {
  readonly #ports: readonly number[];
  readonly #token: string;
  readonly #running: Promise<unknown>;
  #allowed = 0;
  #refused = 0;
  #isStopped = false;
  #verdict: boolean | undefined;

  private constructor(ports: readonly number[], token: string) {
    this.#ports = ports;
    this.#token = token;
    this.#running = Promise.all(Array.from({ length: parallel }, (_, index) => this.#call(index)));
  }

  static async open(
    client: pg.Client,
    where: { args: readonly string[]; env: Record<string, string> },
    ports: readonly number[],
  ): Promise<QuotaCaller> {
    const [uid] = await registerFleet(client, 1, 861_000_000_000_000);
    const { rows } = await client.query<{ slug: string }>(
      `update organizations set per_minute = $2, per_hour = $2
       where id = (select organization_id from devices where uid = $1) returning slug`,
      [uid, quota],
    );
    const options = ["--org", rows[0]?.slug as string, "--name", "Caller", ...where.args];
    const credentials = await vigilJson<Credentials>(["integration", "create", ...options], where.env);
    return new QuotaCaller(ports, await fetchTokenOf(`http://127.0.0.1:${ports[0]}`, credentials));
  }

  async #call(from: number): Promise<void> {
    for (let turn = from; !this.#isStopped; turn++) {
      try {
        const url = `http://127.0.0.1:${this.#ports[turn % this.#ports.length]}/api/v1/organizations/self/`;
        const answer = await fetch(url, { headers: { authorization: `Bearer ${this.#token}` } });
        await answer.text();
        if (answer.status === 200) this.#allowed++;
        else if (answer.status === 429) this.#refused++;
      } catch {
        // That one is being killed or started.
      }
      await pause(this.#refused === 0 ? 60 : 500);
    }
  }

  /** True when no more than the quota was allowed. */
  async stop(): Promise<boolean> {
    this.#isStopped = true;
    await this.#running;
    if (this.#verdict === undefined) {
      console.log(`  ${this.#allowed} calls allowed of a quota of ${quota}, ${this.#refused} refused`);
      this.#verdict = this.#allowed <= quota && this.#allowed > 0;
    }
    return this.#verdict;
  }
}

import { chownSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { withEmbedded } from "../support/embedded-client.ts";
import { iwSos, registerFleet } from "../support/fleet.ts";
import { startSteadyWatch } from "../support/steady-watch.ts";
import { type RunningVigil, runVigil, startVigil, tempFolder, vigilJson } from "../support/vigil-process.ts";

const minuteMs = 60_000;
const start = Math.floor(Date.now() / 1000) * 1000 - 120 * minuteMs;
const [first, second] = [start, start + 10 * minuteMs];

describe("a restore to a point in time", { timeout: 600_000 }, () => {
  let folder: Awaited<ReturnType<typeof tempFolder>>;
  let service: RunningVigil | undefined;
  let uid: string;
  /** Between the two calls for help, by the clock of the database. */
  let between: string;
  /** The one line of history in the archive. */
  let line: string;
  const path = (name: string): string => join(folder.path, name);
  const inFolder = (name: string): string[] => ["--data-dir", path(name)];
  const env = (): Record<string, string> => ({
    VIGIL_GATEWAY_HOST: "127.0.0.1",
    VIGIL_WAL_ARCHIVE_DIR: path("wal"),
    VIGIL_WAL_ARCHIVE_SECONDS: "3600",
  });
  const restore = (name: string, ...more: string[]): string[] => [
    "restore",
    path("one.tar.gz"),
    ...inFolder(name),
    ...more,
  ];

  async function callForHelp(running: RunningVigil, timeMs: number): Promise<void> {
    await startSteadyWatch(running.gateway, uid, [timeMs], { frame: iwSos, answer: "IWBP10" }).finished;
  }

  const callsIn = (name: string): Promise<number[]> =>
    withEmbedded(path(name), async (client) => {
      const { rows } = await client.query<{ at: Date }>(
        "select device_ts as at from events where event_type = 10 order by device_ts",
      );
      return rows.map(({ at }) => at.getTime());
    });

  const now = (): Promise<string> =>
    withEmbedded(path("data"), async (client) => {
      const { rows } = await client.query<{ now: Date }>("select clock_timestamp() as now");
      return (rows[0] as { now: Date }).now.toISOString();
    });

  /** Ends the WAL file that is being written, and answers its name. */
  const switchWal = (): Promise<string> =>
    withEmbedded(path("data"), async (client) => {
      const { rows } = await client.query<{ name: string }>("select pg_walfile_name(pg_current_wal_lsn()) as name");
      // A file with nothing in it is not ended.
      await client.query("select pg_logical_emit_message(true, 'test', 'something'), pg_switch_wal()");
      return (rows[0] as { name: string }).name;
    });

  /** All that is written by now is in the archive. */
  async function untilArchived(): Promise<void> {
    const name = await switchWal();
    await vi.waitFor(() => expect(readdirSync(line).filter((one) => one.slice(0, 24) >= name)).not.toEqual([]), {
      timeout: 120_000,
      interval: 200,
    });
  }

  /** For the user of the database, who is not root. */
  async function copyLine(name: string): Promise<void> {
    await cp(line, path(name), { recursive: true, filter: (file) => !basename(file).startsWith(".") });
    const { uid: owner, gid } = statSync(line);
    for (const file of [path(name), ...readdirSync(path(name)).map((one) => join(path(name), one))]) {
      chownSync(file, owner, gid);
    }
  }

  beforeAll(async () => {
    folder = await tempFolder();
    await mkdir(path("wal"));
    service = await startVigil(inFolder("data"), env());
    line = join(path("wal"), readdirSync(path("wal"))[0] ?? "");
    [uid = ""] = await withEmbedded(path("data"), (client) => registerFleet(client, 1));
    await vigilJson(["backup", path("one.tar.gz"), ...inFolder("data")]);
    await callForHelp(service, first);
    // Commits carry microseconds, the command line milliseconds.
    await new Promise((done) => setTimeout(done, 50));
    between = await now();
    await new Promise((done) => setTimeout(done, 50));
    await callForHelp(service, second);
    for (let file = 0; file < 3; file++) await untilArchived();
  }, 600_000);
  afterAll(async () => {
    await service?.kill("SIGTERM");
    await folder.remove();
  });

  it("shows the call for help before that moment and not the one after it", async () => {
    const restored = await vigilJson<{ state_of: string }>(
      restore("between", "--wal", path("wal"), "--until", between),
    );
    expect(restored.state_of <= between).toBe(true);
    expect(await callsIn("between")).toEqual([first]);
  });

  it("goes to the end of the WAL without a moment, and archives on as a line of history of its own", async () => {
    await vigilJson(restore("end", "--wal", line));
    expect(await callsIn("end")).toEqual([first, second]);
    const other = await startVigil(inFolder("end"), env());
    try {
      // The watch did not see the answer, and sends again.
      await callForHelp(other, second);
      await vi.waitFor(() => expect(readdirSync(path("wal"))).toHaveLength(2), { timeout: 60_000, interval: 200 });
      expect(await callsIn("end")).toEqual([first, second]);
    } finally {
      await other.kill("SIGTERM");
    }
    const own = readdirSync(path("wal")).find((name) => !line.endsWith(name)) ?? "";
    expect(readdirSync(join(path("wal"), own)).filter((name) => /^00000002[0-9A-F]{16}\.gz$/.test(name))).not.toEqual(
      [],
    );
  });

  it("refuses what cannot be reached, and says why", async () => {
    const wal = ["--wal", path("wal")];
    const early = new Date(Date.now() - 60 * minuteMs).toISOString();
    const late = new Date().toISOString();
    const refusals: [string[], number, string][] = [
      [["--until", between], 2, "--until needs --wal"],
      [[...wal, "--until", "yesterday"], 2, "must be a time with its zone"],
      [[...wal, "--until", new Date(Date.now() + 60 * minuteMs).toISOString()], 1, "in the future"],
      [[...wal, "--until", early], 1, "before the end of this backup"],
      [["--wal", path("nowhere")], 1, "there is no folder"],
      [["--wal", folder.path], 1, "has no WAL for this backup"],
    ];
    for (const [more, code, text] of refusals) {
      expect(await runVigil(restore("refused", ...more))).toMatchObject({
        code,
        stderr: expect.stringContaining(text),
      });
      expect(existsSync(path("refused"))).toBe(false);
    }
    await copyLine("short");
    const ended = await runVigil(restore("refused", "--wal", path("short"), "--until", late));
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("ends before --until") });
    expect(existsSync(path("refused/postgres/cluster"))).toBe(false);
  });

  it("refuses a gap in the WAL and a damaged file of it", async () => {
    const { stop_lsn } = await vigilJson<{ stop_lsn: string }>(["backup", "--verify", path("one.tar.gz")]);
    const end = Number.parseInt(stop_lsn.split("/")[1] ?? "", 16) >> 24;
    const after = (name: string): boolean =>
      /^[0-9A-F]{24}\.gz$/.test(name) && Number.parseInt(name.slice(16, 24), 16) > end;
    const [needed = ""] = readdirSync(line).filter(after).sort();
    await copyLine("gap");
    rmSync(join(path("gap"), needed));
    expect(await runVigil(restore("refused", "--wal", path("gap")))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`has a gap: ${needed}`),
    });
    await copyLine("damaged");
    writeFileSync(join(path("damaged"), needed), readFileSync(join(line, needed)).subarray(0, 200));
    const damaged = await runVigil(restore("refused", "--wal", path("damaged")));
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining(`${needed} in `) });
    expect(damaged.stderr).toContain("damaged");
    expect(existsSync(path("refused/postgres/cluster"))).toBe(false);
  });

  it("is watched: a missing archive is an error of doctor and of a metric, and nothing is lost", async () => {
    const running = service as RunningVigil;
    const doctor = async (): Promise<unknown> => {
      const { stdout } = await runVigil(["doctor", ...inFolder("data"), "--json"]);
      const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean }[] };
      return checks.find(({ name }) => name === "wal_archive");
    };
    expect(await doctor()).toMatchObject({ ok: true });
    // Another file in the place of the next one is never overwritten.
    const name = await switchWal();
    const names = Array.from({ length: 20 }, (_, index) =>
      (BigInt(`0x${name.slice(16)}`) + BigInt(index)).toString(16).toUpperCase().padStart(8, "0"),
    );
    const strangers = names.map((one) => join(line, `${name.slice(0, 16)}${one}.gz`)).filter((one) => !existsSync(one));
    for (const stranger of strangers) writeFileSync(stranger, "another", { mode: 0o644 });
    await callForHelp(running, second + 10 * minuteMs);
    await switchWal();
    await vi.waitFor(
      async () => {
        const metrics = await (await fetch(`${running.ops}/metrics`)).text();
        expect(metrics).toMatch(/vigil_wal_archive_failing 1/);
      },
      { timeout: 120_000, interval: 1000 },
    );
    expect(await doctor()).toMatchObject({ ok: false });
    expect(strangers.filter((one) => statSync(one).size !== "another".length)).toEqual([]);
    for (const stranger of strangers) rmSync(stranger);
    await untilArchived();
  });
});

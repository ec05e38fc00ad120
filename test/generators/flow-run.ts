import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A position of the flow's device, and its call for help, as a phone sends them. */
export async function callForHelp(gateway: string, uid: string): Promise<void> {
  for (const [index, alarm] of ["", "", "&alarm=sos"].entries()) {
    const timestamp = Math.floor(Date.now() / 1000) - 2 + index;
    const answer = await fetch(`http://${gateway}/?id=${uid}&lat=41.9001&lon=12.5001&timestamp=${timestamp}${alarm}`);
    if (!answer.ok) throw new Error(`the gateway answered the phone with ${answer.status}`);
  }
}

/** What every flow prints, whatever its language writes around a list. */
export const expectedSteps = (uid: string, email: string): readonly RegExp[] => [
  /^token \d+$/,
  new RegExp(`^user ${email}$`),
  new RegExp(`^device ${uid}$`),
  /^assignment owner$/,
  new RegExp(`^geofence Home \\[.*${uid}.*\\]$`),
  /^location 41\.9001 12\.5001 20\d\d$/,
  /^event alarm\.sos critical 41\.9001$/,
];

export interface FlowRun {
  program: string;
  args: readonly string[];
  folder: string;
  env: Record<string, string>;
  timeoutMs: number;
  onLine(line: string): void;
}

/** Resolves with the lines of a flow that ended well. */
export async function runFlow({ program, args, folder, env, timeoutMs, onLine }: FlowRun): Promise<string[]> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: timeoutMs,
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    onLine(line);
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  if (code !== 0)
    throw new Error(`the flow ended with ${code ?? signal} after "${lines.at(-1)}"\n${stderr.slice(-3000)}`);
  return lines;
}

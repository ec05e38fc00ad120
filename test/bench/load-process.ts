import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface Loaded {
  perSecond: number;
  p50: number;
  p99: number;
  /** Of the process that plays the devices. */
  cpuMs: number;
}

/** Devices that are connected, and send when they are told to. */
export interface ConnectedDevices {
  /** Rate 0 is a closed loop, one packet in progress per connection. */
  run(durationMs: number, rate: number): Promise<Loaded>;
  close(): Promise<void>;
}

/** Connects devices in a process of their own. `more`: further arguments of device-load.ts. */
export async function connectDevices(
  port: number,
  connections: number,
  more: readonly (number | string)[] = [],
): Promise<ConnectedDevices> {
  const args = ["--import", "tsx", join(import.meta.dirname, "device-load.ts"), port, connections, ...more];
  const child = spawn(process.execPath, args.map(String), { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((done) => child.once("exit", done));
  if ((await lines.next()).value !== "connected") throw new Error("the devices could not connect");
  return {
    run: async (durationMs, rate) => {
      child.stdin.write(`${durationMs} ${rate}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error("the devices were turned away");
      return JSON.parse(value) as Loaded;
    },
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** Connects the devices, does something, runs the load once and disconnects them. */
export async function load(
  { port }: { port: number },
  connections: number,
  durationMs: number,
  rate: number,
  whenConnected: () => Promise<void> = async () => undefined,
  more: readonly (number | string)[] = [],
): Promise<Loaded> {
  const devices = await connectDevices(port, connections, more);
  try {
    await whenConnected();
    return await devices.run(durationMs, rate);
  } finally {
    await devices.close();
  }
}

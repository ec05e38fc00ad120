import { connect, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { type LoadFrames, type LoadProtocol, loadFrames } from "./load-frames.ts";

/**
 * Devices in a process of their own. Arguments: port connections milliseconds rate. Rate 0 is a closed loop, one packet in progress
 * per connection; otherwise so many packets a second over all connections. First all log in; a line "connected" says so, and a
 * line on stdin starts the load. Prints packets acknowledged per second, the times of their answers and its own CPU time. Two more arguments: the
 * first IMEI, and the time of the first packet, for devices whose packets must not be late. `--protocol` names what they speak.
 */
const { values: options, positionals } = parseArgs({
  options: { protocol: { type: "string", default: "iw" } },
  allowPositionals: true,
});
const [port, connections, durationMs, rate, firstUid = 860_000_000_000_000, startMs] = positionals.map(Number) as [
  number,
  number,
  number,
  number,
  number?,
  number?,
];
const { login, isLoginAnswer, report, answerBytes }: LoadFrames = loadFrames[options.protocol as LoadProtocol];

interface Device {
  socket: Socket;
  /** Send times of packets in progress, oldest first. */
  sent: number[];
  n: number;
}

// Partitions reach 30 days back.
const dayMs = 86_400_000;
const baseMs = startMs ?? Math.floor(Date.now() / dayMs) * dayMs - 28 * dayMs;
const devices: Device[] = [];
const times: number[] = [];
let isRunning = false;
let acknowledged = 0;

function send(device: Device): void {
  device.sent.push(performance.now());
  device.socket.write(report(baseMs + device.n++ * 1000));
}

function open(uid: string, first: number): Promise<Device> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, noDelay: true });
    const device: Device = { socket, sent: [], n: first };
    let isIn = false;
    let rest = 0;
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a device was turned away")));
    socket.on("connect", () => socket.write(login(uid)));
    socket.on("data", (chunk: Buffer) => {
      if (!isIn) {
        isIn = isLoginAnswer(chunk);
        if (isIn) resolve(device);
        return;
      }
      rest += chunk.length;
      for (; rest >= answerBytes; rest -= answerBytes) {
        const sentAt = device.sent.shift();
        if (sentAt !== undefined) times.push(performance.now() - sentAt);
        acknowledged++;
        if (rate === 0 && isRunning) send(device);
      }
    });
  });
}

// Packets of every run are new ones: a second of the bench is a minute of the device's clock, which is more than a device sends.
const first = startMs === undefined ? (Math.floor(performance.timeOrigin / 1000) % 36_000) * 60 : 0;
for (let start = 0; start < connections; start += 200) {
  const size = Math.min(200, connections - start);
  const opened = Array.from({ length: size }, (_, index) => open(String(firstUid + start + index), first));
  devices.push(...(await Promise.all(opened)));
}
console.log("connected");
await new Promise<void>((resolve) => process.stdin.once("data", () => resolve()));
if (durationMs > 0) {
  isRunning = true;
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  if (rate === 0) for (const device of devices) send(device);
  else await sendSteadily(startedMs);
  if (rate === 0) await new Promise((resolve) => setTimeout(resolve, durationMs));
  isRunning = false;
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  console.log(
    JSON.stringify({ perSecond: acknowledged / seconds, p50: at(0.5), p99: at(0.99), cpuMs: (user + system) / 1000 }),
  );
}
process.exit(0);

async function sendSteadily(startedMs: number): Promise<void> {
  let sent = 0;
  for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - startedMs) {
    for (const due = Math.floor((elapsed / 1000) * rate); sent < due; sent++)
      send(devices[sent % connections] as Device);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

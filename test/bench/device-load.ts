import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { type LoadFrames, type LoadProtocol, loadFrames } from "./load-frames.ts";

/**
 * Devices in a process of their own. Arguments: port connections. First all log in; a line "connected" says so. Then each line on
 * stdin is a round, "milliseconds rate": rate 0 is a closed loop, one packet in progress per connection; otherwise so many packets a
 * second over all connections. A round ends when everything it sent is answered, and prints packets acknowledged per second and the
 * times of their answers, and its own CPU time. Two more arguments: the first IMEI, and the time of the first packet, for devices whose packets must not
 * be late. `--protocol` names what they speak.
 */
const { values: options, positionals } = parseArgs({
  options: { protocol: { type: "string", default: "iw" } },
  allowPositionals: true,
});
const [port, connections, firstUid = 860_000_000_000_000, startMs] = positionals.map(Number) as [
  number,
  number,
  number?,
  number?,
];
const { login, isLoginAnswer, report, answerBytes }: LoadFrames = loadFrames[options.protocol as LoadProtocol];
/** Answers that take longer are missed: the round says so. */
const lastAnswersMs = 10_000;

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
let times: number[] = [];
let isClosedLoop = false;
let inProgress = 0;
let next = 0;
let onAllAnswered = (): void => undefined;

function send(device: Device): void {
  inProgress++;
  device.sent.push(performance.now());
  device.socket.write(report(baseMs + device.n++ * 1000));
}

function answered(device: Device): void {
  const sentAt = device.sent.shift();
  if (sentAt === undefined) return;
  times.push(performance.now() - sentAt);
  inProgress--;
  if (isClosedLoop) send(device);
  else if (inProgress === 0) onAllAnswered();
}

/** One for all sockets: a buffer for each answer would be garbage whose collection takes the cores away from the service. */
const received = Buffer.alloc(65_536);

function open(uid: string, first: number): Promise<Device> {
  return new Promise((resolve, reject) => {
    let isIn = false;
    let rest = 0;
    const take = (bytes: number): boolean => {
      if (!isIn) {
        isIn = isLoginAnswer(received.subarray(0, bytes));
        if (isIn) resolve(device);
        return true;
      }
      rest += bytes;
      for (; rest >= answerBytes; rest -= answerBytes) answered(device);
      return true;
    };
    const onread = { buffer: received, callback: take };
    const socket = connect({ host: "127.0.0.1", port, noDelay: true, onread });
    const device: Device = { socket, sent: [], n: first };
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a device was turned away")));
    socket.on("connect", () => socket.write(login(uid)));
  });
}

async function sendSteadily(startedMs: number, durationMs: number, rate: number): Promise<void> {
  let sent = 0;
  for (let elapsed = 0; elapsed < durationMs; elapsed = performance.now() - startedMs) {
    for (const due = Math.floor((elapsed / 1000) * rate); sent < due; sent++) {
      send(devices[next++ % connections] as Device);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const allAnswered = (): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, lastAnswersMs);
    onAllAnswered = () => {
      clearTimeout(timer);
      resolve();
    };
    if (inProgress === 0) onAllAnswered();
  });

async function round(durationMs: number, rate: number): Promise<void> {
  times = [];
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  if (rate === 0) {
    isClosedLoop = true;
    for (const device of devices) send(device);
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    isClosedLoop = false;
  } else await sendSteadily(startedMs, durationMs, rate);
  const acknowledged = times.length;
  const { user, system } = process.cpuUsage(cpuBefore);
  const seconds = (performance.now() - startedMs) / 1000;
  await allAnswered();
  // An answer that never came is the slowest of all.
  times = [...times, ...Array.from({ length: inProgress }, () => lastAnswersMs)].sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  const cpuMs = (user + system) / 1000;
  console.log(JSON.stringify({ perSecond: acknowledged / seconds, p50: at(0.5), p99: at(0.99), cpuMs }));
}

// Packets of every run are new ones: a second of the bench is a minute of the device's clock, which is more than a device sends.
const first = startMs === undefined ? (Math.floor(performance.timeOrigin / 1000) % 36_000) * 60 : 0;
for (let start = 0; start < connections; start += 200) {
  const size = Math.min(200, connections - start);
  const opened = Array.from({ length: size }, (_, index) => open(String(firstUid + start + index), first));
  devices.push(...(await Promise.all(opened)));
}
console.log("connected");
for await (const line of createInterface({ input: process.stdin })) {
  const [durationMs, rate] = line.split(" ").map(Number) as [number, number];
  await round(durationMs, rate);
}
process.exit(0);

import { connect } from "node:net";
import { iwLogin } from "../support/fleet.ts";

/**
 * Devices that log in and say no more, in a process of their own. Arguments: port, devices, first IMEI, own address. A line
 * "connected" says that all are in; they stay until the process is ended.
 */
const [port, devices, firstUid] = process.argv.slice(2, 5).map(Number) as [number, number, number];
const localAddress = process.argv[5] as string;

function open(uid: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a device was turned away")));
    socket.on("connect", () => socket.write(iwLogin(uid)));
    socket.once("data", () => resolve());
  });
}

for (let start = 0; start < devices; start += 200) {
  const size = Math.min(200, devices - start);
  await Promise.all(Array.from({ length: size }, (_, index) => open(String(firstUid + start + index))));
}
console.log("connected");

import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { iwLogin } from "../support/fleet.ts";
import { datagram, record8 } from "../support/teltonika-corpus.ts";

/**
 * Devices that log in and say no more, in a process of their own. Arguments: port, devices, first IMEI, own address, tcp or udp. A
 * line "connected" says that all are in; they stay until the process is ended. Over UDP the login comes with a position, and a
 * byte a minute keeps the way open.
 */
const [port, devices, firstUid] = process.argv.slice(2, 5).map(Number) as [number, number, number];
const [localAddress, transport] = process.argv.slice(5) as [string, "tcp" | "udp"];
const resendMs = 2000;
const stayMs = 60_000;

function openTcp(uid: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("a device was turned away")));
    socket.on("connect", () => socket.write(iwLogin(uid)));
    socket.once("data", () => resolve());
  });
}

function openUdp(uid: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket("udp4");
    const send = (bytes: Buffer): void => socket.send(bytes, port, "127.0.0.1");
    const login = datagram(`08 01 ${record8(Date.now())} 01`, uid);
    const again = setInterval(() => send(login), resendMs);
    socket.on("error", reject);
    socket.once("message", () => {
      clearInterval(again);
      setInterval(() => send(Buffer.of(0xff)), stayMs);
      resolve();
    });
    socket.bind(0, localAddress, () => send(login));
  });
}

const open = transport === "udp" ? openUdp : openTcp;
for (let start = 0; start < devices; start += 200) {
  const size = Math.min(200, devices - start);
  await Promise.all(Array.from({ length: size }, (_, index) => open(String(firstUid + start + index))));
}
console.log("connected");

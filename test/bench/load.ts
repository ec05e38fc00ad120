import { connect } from "node:net";

/**
 * A load generator in a process of its own: a number of kept connections, each with one request in progress.
 * Arguments: host port path authorization connections milliseconds. Prints the requests answered per second.
 */
const [host, port, path, authorization, connections, durationMs] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`);
const endMs = Date.now() + Number(durationMs);
let answered = 0;
let failed = 0;
let open = Number(connections);
const startedMs = performance.now();

for (let index = 0; index < Number(connections); index++) {
  const socket = connect({ host, port: Number(port), noDelay: true });
  let pending: Buffer = Buffer.alloc(0);
  socket.write(request);
  socket.on("data", (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const headEnd = pending.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = pending.toString("latin1", 0, headEnd);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (pending.length < headEnd + 4 + length) return;
    if (!head.startsWith("HTTP/1.1 200")) failed++;
    answered++;
    pending = Buffer.alloc(0);
    if (Date.now() < endMs) socket.write(request);
    else socket.destroy();
  });
  socket.on("close", () => {
    if (--open > 0) return;
    console.log(JSON.stringify({ perSecond: answered / ((performance.now() - startedMs) / 1000), failed }));
  });
  socket.on("error", () => failed++);
}

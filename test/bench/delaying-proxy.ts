import { type AddressInfo, connect, createServer } from "node:net";

/**
 * A network to a database, in a process of its own: every chunk arrives later than it was sent, by the same time in both
 * directions, and as much may be on its way as the sender likes. Arguments: path of the server's Unix socket, milliseconds of one
 * way. Prints its port.
 */
const [path = "", delay] = process.argv.slice(2);
const delayMs = Number(delay);

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect(path);
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    from.on("error", () => undefined);
    // Timers of one length keep their order.
    from.on("data", (chunk: Buffer) => setTimeout(() => to.write(chunk), delayMs));
    from.on("close", () => setTimeout(() => to.destroySoon(), delayMs));
  }
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.on("SIGTERM", () => process.exit(0));

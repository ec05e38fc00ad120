import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a client and the service, and breaks what a network may break. */
export interface BreakingProxy {
  /** The service, through the proxy. */
  url: string;
  /** Ends open connections, and with them the answers on their way. */
  cut(): void;
  /** From now on a part of the answers ends after a few bytes. 0: none. */
  breakAnswers(chance: number): void;
  broken(): number;
  close(): Promise<void>;
}

const keptBytes = 120;

export async function openBreakingProxy(port: number, random: () => number = Math.random): Promise<BreakingProxy> {
  const sockets = new Set<Socket>();
  let chance = 0;
  let broken = 0;
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      if (random() >= chance) return void client.write(chunk);
      broken++;
      client.write(chunk.subarray(0, keptBytes), () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      broken += sockets.size / 2;
      for (const socket of sockets) socket.destroy();
    },
    breakAnswers: (share) => {
      chance = share;
    },
    broken: () => broken,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

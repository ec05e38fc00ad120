import { createServer } from "node:net";

const [firstPort, lastPort] = [20_000, 29_999];

/**
 * A port that a service can take again after it was killed. A port given by the system (0) cannot serve: while the service is down,
 * a client's outgoing socket may be given the same number.
 */
export async function freeLowPort(): Promise<string> {
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    if (await isFree(port)) return String(port);
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const server = createServer();
    server.once("error", () => done(false));
    server.listen(port, "127.0.0.1", () => server.close(() => done(true)));
  });

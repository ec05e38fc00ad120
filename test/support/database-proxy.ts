import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** Stands between a gateway and its database, and loses what a network may lose. */
export interface DatabaseProxy {
  /** The database, through the proxy. */
  url: string;
  /** The next commit of packets reaches the server, its answer nobody. */
  loseNextCommit(): void;
  lostCommits(): number;
  /** Answers are kept back on every connection that sends the name, until the function that it returns is called. */
  withholdAnswersTo(name: string): () => void;
  /** Cuts every connection, and refuses new ones until `mend`. */
  cut(): void;
  /** Takes connections and passes nothing on, until `mend`: a server that hangs. */
  stall(): void;
  mend(): void;
  close(): Promise<void>;
}

interface Withholding {
  name: string;
  answers: (() => void)[];
  /** Also for a connection that has sent the name and whose answer comes only later. */
  isReleased: boolean;
}

export async function openDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get("host");
  const port = Number(target.port || 5432);
  const sockets = new Set<Socket>();
  let isLosing = false;
  let lost = 0;
  let isCut = false;
  let isStalled = false;
  let withholding: Withholding | undefined;
  const server = createServer((client) => {
    if (isCut) return client.destroy();
    const upstream = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, target.hostname);
    let storesPackets = false;
    let isLost = false;
    let withheldBy: Withholding | undefined;
    if (isStalled) client.pause();
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      storesPackets ||= chunk.includes("ingest_batch");
      if (isLosing && storesPackets && chunk.includes("commit\0")) {
        isLosing = false;
        isLost = true;
      }
      if (withholding && chunk.includes(withholding.name)) withheldBy = withholding;
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (withheldBy && !withheldBy.isReleased) return void withheldBy.answers.push(() => client.write(chunk));
      if (!isLost) return void client.write(chunk);
      // The answer of the commit is there: the row is durable, and the gateway will never hear of it.
      if (!chunk.includes("COMMIT")) return;
      lost++;
      client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.search = "";
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    loseNextCommit: () => {
      isLosing = true;
    },
    lostCommits: () => lost,
    withholdAnswersTo: (name) => {
      const begun: Withholding = { name, answers: [], isReleased: false };
      withholding = begun;
      return () => {
        begun.isReleased = true;
        if (withholding === begun) withholding = undefined;
        for (const pass of begun.answers.splice(0)) pass();
      };
    },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    stall: () => {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    mend: () => {
      isCut = false;
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface OpsOptions {
  port: number;
  /** The metrics as text. */
  render: () => Promise<string>;
  /** Undefined when ready, else the reason. */
  notReady: () => Promise<string | undefined>;
}

/** Health, readiness and metrics for operators, on the loopback interface alone. */
export function startOpsServer({
  port,
  render,
  notReady,
}: OpsOptions): Promise<{ address: string; close(): Promise<void> }> {
  const server: Server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string): void => {
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store" }).end(text);
    };
    const path = (request.url ?? "").split("?", 1)[0]?.replace(/\/$/, "");
    if (request.method !== "GET") return answer(405, "text/plain", "GET only\n");
    switch (path) {
      case "/healthz":
        return answer(200, "application/json", '{"status":"ok"}\n');
      case "/readyz":
        notReady().then(
          (reason) =>
            reason === undefined
              ? answer(200, "application/json", '{"status":"ready"}\n')
              : answer(503, "application/json", `${JSON.stringify({ status: "not ready", reason })}\n`),
          () => answer(503, "application/json", '{"status":"not ready","reason":"the check failed"}\n'),
        );
        return;
      case "/metrics":
        render().then(
          (text) => answer(200, "text/plain; version=0.0.4; charset=utf-8", text),
          () => answer(500, "text/plain", "the metrics could not be collected\n"),
        );
        return;
      default:
        return answer(404, "text/plain", "not found\n");
    }
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port: actual } = server.address() as AddressInfo;
      resolve({
        address: `http://127.0.0.1:${actual}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            server.closeAllConnections();
          }),
      });
    });
  });
}

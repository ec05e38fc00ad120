// The ops port of Vigil listens on the loopback alone. This relay runs beside it in the same network namespace and lets a
// Prometheus of the cluster read /metrics, and nothing else: node metrics-relay.mjs [PORT] (9091).
import { createServer, get } from "node:http";

const port = Number(process.argv[2] ?? 9091);
const opsPort = process.env.VIGIL_OPS_PORT || "9090";

const server = createServer((request, response) => {
  if (request.method !== "GET" || request.url !== "/metrics") {
    response.writeHead(404).end();
    return;
  }
  get({ host: "127.0.0.1", port: opsPort, path: "/metrics", timeout: 5000 }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, { "Content-Type": answer.headers["content-type"] ?? "text/plain" });
    answer.pipe(response);
  })
    .on("timeout", (upstream) => upstream?.destroy())
    .on("error", () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
});
server.listen(port);
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as it came over the wire, its attributes as one object. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links?: { traceId: string; spanId: string }[];
  status: { code?: number; message?: string };
}

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: WireAttribute[] };
    scopeSpans: { spans: (Omit<CollectedSpan, "attributes"> & { attributes: WireAttribute[] })[] }[];
  }[];
}
interface WireAttribute {
  key: string;
  value: Record<string, unknown>;
}

export type Collector = Awaited<ReturnType<typeof openCollector>>;

/** A collector of traces: real HTTP, answers as told, keeps what it accepted. */
export async function openCollector() {
  const state = {
    status: 200,
    requests: 0,
    spans: [] as CollectedSpan[],
    resource: {} as Record<string, unknown>,
    path: "",
    headers: {} as IncomingHttpHeaders,
    text: "",
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      state.requests++;
      state.path = `${request.method} ${request.url}`;
      state.headers = request.headers;
      if (state.status === 200) take(Buffer.concat(chunks).toString());
      response.writeHead(state.status, { "content-type": "application/json" }).end("{}");
    });
  });
  const take = (text: string): void => {
    state.text += text;
    for (const { resource, scopeSpans } of (JSON.parse(text) as ExportRequest).resourceSpans) {
      state.resource = objectOf(resource.attributes);
      for (const { spans } of scopeSpans) {
        state.spans.push(...spans.map((span) => ({ ...span, attributes: objectOf(span.attributes) })));
      }
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const objectOf = (attributes: readonly WireAttribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

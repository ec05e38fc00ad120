import type { AddressInfo } from "node:net";
import type { TestAnswer, TestApi } from "./api.ts";
import { until } from "./until.ts";

export interface StreamEvent {
  id: string;
  event: string;
  data: TestAnswer["body"];
}

export interface TestStream {
  events: StreamEvent[];
  /** All that came, comments included. */
  text(): string;
  isEnded(): boolean;
  /** Waits for an event of this name that fits. */
  next(name: string, fits?: (event: StreamEvent) => boolean): Promise<StreamEvent>;
  close(): void;
}

const parse = (block: string): StreamEvent | undefined => {
  const field = (name: string): string | undefined =>
    block
      .split("\n")
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2);
  const [id, event, data] = [field("id"), field("event"), field("data")];
  return id === undefined || event === undefined || data === undefined
    ? undefined
    : { id, event, data: JSON.parse(data) };
};

/** The application on a port of its own: a stream cannot be injected, it has no end. */
export async function listen({ app }: TestApi): Promise<string> {
  await app.listen({ host: "127.0.0.1", port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Opens the live stream and waits for its greeting. */
export async function openStream(origin: string, headers: Record<string, string>): Promise<TestStream> {
  const cut = new AbortController();
  const answer = await fetch(`${origin}/console/api/stream/`, { headers, signal: cut.signal });
  if (answer.status !== 200 || !answer.body) throw new Error(`no stream: ${answer.status} ${await answer.text()}`);
  const events: StreamEvent[] = [];
  let text = "";
  let rest = "";
  let isEnded = false;
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop() ?? "";
      events.push(...blocks.flatMap((block) => parse(block) ?? []));
    }
  };
  read(answer.body)
    .catch(() => undefined)
    .finally(() => {
      isEnded = true;
    });
  const stream: TestStream = {
    events,
    text: () => text,
    isEnded: () => isEnded,
    next: (name, fits = () => true) =>
      until(() => {
        const found = events.find((event) => event.event === name && fits(event));
        if (!found) throw new Error(`no ${name} among ${JSON.stringify(events)}`);
        return found;
      }),
    close: () => cut.abort(),
  };
  await stream.next("hello");
  return stream;
}

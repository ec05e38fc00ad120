/** One event of a stream of server-sent events. */
export interface StreamEvent {
  kind: string;
  data: string;
  /** Empty until the stream has given one. */
  id: string;
}

/**
 * Reads a stream of server-sent events to its end. Unlike the browser's own EventSource it tells of every arrival of bytes,
 * comment lines included: only these prove that a connection on which nothing happens is alive.
 */
export async function readEventStream(
  body: ReadableStream<Uint8Array>,
  { onBytes, onEvent }: { onBytes(): void; onEvent(event: StreamEvent): void },
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  let id = "";
  let [kind, data]: [string, string[]] = ["", []];

  function readLine(line: string): void {
    if (line === "") {
      if (data.length > 0) onEvent({ kind: kind || "message", data: data.join("\n"), id });
      [kind, data] = ["", []];
      return;
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) as unknown as [string, string, string | undefined];
    if (field === "event") kind = value ?? "";
    else if (field === "data") data.push(value ?? "");
    else if (field === "id") id = value ?? "";
  }

  const reader = body.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    onBytes();
    const lines = (rest + decoder.decode(part.value, { stream: true })).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) readLine(line.replace(/\r$/, ""));
  }
}

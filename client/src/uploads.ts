import { randomUUID } from "node:crypto";
import type { RawBody } from "./transport.ts";

type ByteStream = ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** Bytes that can be read again, or a stream, which is sent once and never retried. A function may open the stream anew. */
export type UploadSource = Blob | Uint8Array | ByteStream | (() => ByteStream);

export interface Upload {
  source: UploadSource;
  /** Default: "voice". */
  filename?: string | undefined;
  /** Default: that of the Blob, or application/octet-stream. The service looks into the bytes. */
  contentType?: string | undefined;
}

const encoder = new TextEncoder();
const quoted = (text: string): string => text.replaceAll('"', "%22").replaceAll(/[\r\n]+/g, " ");

function openSource(source: UploadSource): AsyncIterable<Uint8Array> {
  if (source instanceof Uint8Array) return once(source);
  if (source instanceof Blob) return iterate(source.stream());
  if (typeof source === "function") return iterate(source());
  return iterate(source);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Streams of the web are not iterable everywhere. */
async function* iterate(stream: ByteStream): AsyncGenerator<Uint8Array> {
  if (!(stream instanceof ReadableStream)) {
    yield* stream;
    return;
  }
  const reader = stream.getReader();
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      if (value) yield value;
    }
  } finally {
    // When the request has failed nobody reads on.
    await reader.cancel();
  }
}

function toStream(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async () => {
      await chunks.return(undefined);
    },
  });
}

/** A form with one file. The file is passed on as it is read, never held whole. */
export function multipartBody(upload: Upload, fields: Record<string, string | undefined>): RawBody {
  const { source, filename = "voice" } = upload;
  const boundary = `vigil-${randomUUID()}`;
  const type =
    upload.contentType ?? (source instanceof Blob && source.type !== "" ? source.type : "application/octet-stream");

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (const [name, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      yield encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
    }
    const disposition = `Content-Disposition: form-data; name="file"; filename="${quoted(filename)}"`;
    yield encoder.encode(`--${boundary}\r\n${disposition}\r\nContent-Type: ${quoted(type)}\r\n\r\n`);
    yield* openSource(source);
    yield encoder.encode(`\r\n--${boundary}--\r\n`);
  }

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    canMakeAgain: source instanceof Uint8Array || source instanceof Blob || typeof source === "function",
    make: () => toStream(chunks()),
  };
}

/** An answer that is read while it arrives. */
export interface Download {
  body: ReadableStream<Uint8Array>;
  contentType: string;
  contentLength: number | undefined;
}

export function toDownload(answer: Response): Download {
  const length = answer.headers.get("content-length");
  return {
    body: answer.body ?? new ReadableStream({ start: (controller) => controller.close() }),
    contentType: answer.headers.get("content-type") ?? "application/octet-stream",
    contentLength: length === null ? undefined : Number(length),
  };
}

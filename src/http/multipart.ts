import { createHash } from "node:crypto";
import { Busboy, type BusboyHeaders } from "@fastify/busboy";
import { fileTooLarge, parseError, unsupportedMediaType } from "../lib/errors.ts";
import { mediaType, type RawBody } from "../lib/raw-body.ts";
import { hashOfValue } from "./idempotency.ts";
import type { Route } from "./route.ts";

export interface UploadedFile {
  /** As the caller says; the content alone tells what it is. */
  name: string;
  bytes: Buffer;
}

export interface Form {
  fields: Record<string, string>;
  file: UploadedFile | undefined;
}

type FileRule = NonNullable<Route["file"]>;

/** What a body may have beside its file: boundaries, part headers and fields. */
export const formOverheadBytes = 64 * 1024;

const partLimits = { fields: 20, fieldNameSize: 100, fieldSize: 16_384, files: 5, parts: 25, headerPairs: 20 };

/**
 * The whole body is there, and the parser works through it without waiting for anything but itself. Of a part whose headers never
 * end it says neither that it finished nor that it failed, and the call would keep its place among the uploads for ever.
 */
const stallMs = 200;

/** The fields of a multipart/form-data body and the file of the name; further files are skipped. */
export async function readForm(raw: RawBody | undefined, { field, maxBytes }: FileRule): Promise<Form> {
  if (raw?.tooLarge) throw fileTooLarge();
  if (!raw || raw.bytes.length === 0) return { fields: {}, file: undefined };
  if (mediaType(raw.contentType) !== "multipart/form-data") {
    throw unsupportedMediaType("The request body must be multipart/form-data.");
  }
  const fields: Record<string, string> = {};
  let file: { name: string; chunks: Buffer[] } | undefined;
  try {
    const parser = new Busboy({
      headers: { "content-type": raw.contentType } as BusboyHeaders,
      limits: { ...partLimits, fileSize: maxBytes + 1 },
      isPartAFile: (name, contentType, fileName) =>
        name === field || contentType === "application/octet-stream" || fileName !== undefined,
    });
    let stalled: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      stalled = setTimeout(() => reject(new Error("a part has no end")), stallMs);
      parser.on("field", (name, value) => {
        fields[name] = value;
      });
      parser.on("file", (name, stream, fileName) => {
        stream.on("error", reject);
        if (name !== field || file) return void stream.resume();
        const chunks: Buffer[] = [];
        file = { name: fileName ?? "", chunks };
        stream.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          stalled?.refresh();
        });
      });
      parser.on("error", reject);
      parser.on("finish", resolve);
      parser.end(raw.bytes);
    }).finally(() => clearTimeout(stalled));
  } catch {
    throw parseError("The request body is not valid multipart/form-data.");
  }
  if (!file) return { fields, file: undefined };
  const bytes = joined(file.chunks);
  if (bytes.length > maxBytes) throw fileTooLarge();
  return { fields, file: { name: file.name, bytes } };
}

/** The parser gives parts of the body that lie side by side: copies of files are garbage that makes long collections frequent. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  let end = first?.byteOffset;
  for (const { buffer, byteOffset, length } of chunks) {
    if (buffer !== first?.buffer || byteOffset !== end) return Buffer.concat(chunks);
    end += length;
  }
  return first ? Buffer.from(first.buffer, first.byteOffset, (end as number) - first.byteOffset) : Buffer.alloc(0);
}

/** Files count by their bytes: the boundary, which clients choose at random, makes no other body. */
export async function formHash(raw: RawBody | undefined, rule: FileRule): Promise<Buffer> {
  const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
  try {
    const { fields, file } = await readForm(raw, rule);
    return hashOfValue([fields, file ? sha256(file.bytes) : null]);
  } catch {
    return hashOfValue(["unreadable", raw ? sha256(raw.bytes) : ""]);
  }
}

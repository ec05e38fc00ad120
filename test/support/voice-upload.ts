import { randomBytes } from "node:crypto";
import type { TestAnswer, TestApi } from "./api.ts";

export interface UploadParts {
  token: string;
  uid: string;
  file?: Buffer;
  fileName?: string;
  fields?: Record<string, string>;
  headers?: Record<string, string>;
}

/** A multipart body with a boundary of its own each time, as clients make them. */
export function multipart({
  file,
  fileName = "voice.bin",
  fields = {},
}: Pick<UploadParts, "file" | "fileName" | "fields">) {
  const boundary = `----test${randomBytes(8).toString("hex")}`;
  const parts: Uint8Array[] = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  if (file) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: text/plain\r\n\r\n`;
    parts.push(Buffer.from(head), file, Buffer.from("\r\n"));
  }
  return {
    payload: Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

export async function uploadVoice(
  { app }: TestApi,
  { token, uid, headers, ...parts }: UploadParts,
): Promise<TestAnswer> {
  const { payload, contentType } = multipart(parts);
  const answer = await app.inject({
    method: "POST",
    url: `/api/v1/devices/${uid}/messages/upload-voice/`,
    headers: { authorization: `Bearer ${token}`, "content-type": contentType, ...headers },
    payload,
  });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: answer.json() };
}

/** The recording of a message, as bytes. */
export async function readAudio(
  { app }: TestApi,
  token: string,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Record<string, unknown>; bytes: Buffer }> {
  const answer = await app.inject({ method: "GET", url, headers: { authorization: `Bearer ${token}`, ...headers } });
  return { status: answer.statusCode, headers: answer.headers, bytes: answer.rawPayload };
}

export const wavSamples = (wav: Buffer): Float32Array =>
  Float32Array.from({ length: (wav.length - 44) / 2 }, (_, at) => wav.readInt16LE(44 + 2 * at) / 32_768);

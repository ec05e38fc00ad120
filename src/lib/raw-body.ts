import type { Readable } from "node:stream";

/**
 * A request body as it came: bytes or the reason there are none. It is looked at only after the gates, so that an outsider
 * learns nothing from a parse error, and the order of checks holds.
 */
export interface RawBody {
  contentType: string | undefined;
  bytes: Buffer;
  tooLarge: boolean;
}

/** Of calls that anybody can make: log-in, tokens, links (section 21). */
export const maxPublicBodyBytes = 8192;

/** What is read and dropped of a body that is too large, so that an ordinary client gets its answer and not a reset. */
const drainLimit = 16 * 1024 * 1024;

export function collectBody(stream: Readable, contentType: string | undefined, limit: number): Promise<RawBody> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = (): void => resolve({ contentType, bytes: Buffer.alloc(0), tooLarge: true });
    stream.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else chunks = [];
      if (size > limit + drainLimit) tooLarge();
    });
    stream.on("end", () => {
      if (size > limit) tooLarge();
      else resolve({ contentType, bytes: Buffer.concat(chunks), tooLarge: false });
    });
    stream.on("error", reject);
  });
}

/** The media type without parameters, in lower case. */
export const mediaType = (contentType: string | undefined): string =>
  (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";

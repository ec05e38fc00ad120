import { MalformedFrame } from "../malformed-frame.ts";

export interface Request {
  method: string;
  /** Path and query, as sent. */
  target: string;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  body: Buffer;
  /** The client wants to use the connection again. */
  isKeptAlive: boolean;
}

interface Head extends Omit<Request, "body"> {
  /** How many bytes follow the head, or what is wrong with it. */
  bodyBytes: number | string;
}

const requestLine = /^([A-Z]{3,7}) (\S{1,4096}) HTTP\/1\.([01])$/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]{1,100}):[ \t]*(.*?)[ \t]*$/;

/** Never throws: what cannot be read is returned as `bodyBytes`. */
export function readHead(bytes: Buffer): Head {
  const [first = "", ...lines] = bytes.toString("latin1").trimEnd().split("\r\n");
  const [, method = "", target = "", minor = ""] = requestLine.exec(first) ?? [];
  const headers = new Map<string, string>();
  let problem = method === "" ? "request line that cannot be read" : undefined;
  for (const line of lines) {
    const [, name = "", value = ""] = headerLine.exec(line) ?? [];
    const key = name.toLowerCase();
    const before = headers.get(key);
    if (name === "") problem ??= "header that cannot be read";
    // Two lengths are how requests are smuggled past a proxy.
    else if (key === "content-length" && before !== undefined && before !== value)
      problem ??= "two lengths of one body";
    headers.set(key, before === undefined ? value : key === "content-length" ? value : `${before}, ${value}`);
  }
  const connection = (headers.get("connection") ?? "").toLowerCase();
  const isKeptAlive = minor === "1" ? !/\bclose\b/.test(connection) : /\bkeep-alive\b/.test(connection);
  return { method, target, headers, isKeptAlive, bodyBytes: problem ?? bodyBytesOf(headers) };
}

function bodyBytesOf(headers: ReadonlyMap<string, string>): number | string {
  if (headers.has("transfer-encoding")) return "body without a length";
  const length = headers.get("content-length") ?? "0";
  return /^\d{1,9}$/.test(length) ? Number(length) : "length that cannot be read";
}

export function readRequest(raw: Buffer): Request {
  const headBytes = raw.indexOf("\r\n\r\n") + 4;
  const { bodyBytes, ...request } = readHead(raw.subarray(0, headBytes));
  if (typeof bodyBytes === "string") throw new MalformedFrame(bodyBytes);
  return { ...request, body: raw.subarray(headBytes) };
}

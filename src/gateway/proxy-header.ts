import { isIPv4, isIPv6 } from "node:net";

/**
 * The header of the PROXY protocol, versions 1 and 2, that a load balancer writes before the bytes of its client:
 * https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt. Pure, and never looks at more than `maxProxyHeaderBytes`.
 */
export interface ProxyHeader {
  /** Bytes of the header; what follows is the client's. */
  length: number;
  /** Of the client. Undefined: the proxy speaks for itself, as in a health check, or does not know. */
  address: string | undefined;
}

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
const fixedBytes = 16;
/** Section 2.1: the longest line, with its end. */
const maxLineBytes = 107;
/** Version 2 may carry 64 KB of fields that nobody needs here; those of HAProxy, nginx and the clouds stay far below this. */
const maxFieldBytes = 1024;
export const maxProxyHeaderBytes = fixedBytes + maxFieldBytes;

/** `wait`: the header is not complete. `invalid`: these bytes do not begin with a header, or with one that is too long. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | "wait" | "invalid" {
  const start = bytes.subarray(0, signature.length);
  if (signature.subarray(0, start.length).equals(start)) {
    return bytes.length < fixedBytes ? "wait" : readVersion2(bytes);
  }
  return readVersion1(bytes);
}

function readVersion1(bytes: Buffer): ProxyHeader | "wait" | "invalid" {
  const text = bytes.subarray(0, maxLineBytes).toString("latin1");
  const opening = "PROXY ";
  if (!opening.startsWith(text.slice(0, opening.length))) return "invalid";
  const end = text.indexOf("\r\n");
  if (end < 0) return bytes.length < maxLineBytes ? "wait" : "invalid";
  const length = end + 2;
  const line = text.slice(0, end);
  if (/^PROXY UNKNOWN( |$)/.test(line)) return { length, address: undefined };
  const [, family, source = "", destination = "", ...ports] =
    /^PROXY (TCP4|TCP6) ([\da-fA-F.:]+) ([\da-fA-F.:]+) (\d{1,5}) (\d{1,5})$/.exec(line) ?? [];
  const isAddress = family === "TCP4" ? isIPv4 : isIPv6;
  const isValid = family !== undefined && isAddress(source) && isAddress(destination);
  return isValid && ports.every((port) => Number(port) <= 65_535) ? { length, address: source } : "invalid";
}

function readVersion2(bytes: Buffer): ProxyHeader | "wait" | "invalid" {
  const version = bytes.readUInt8(12) >> 4;
  const command = bytes.readUInt8(12) & 0x0f;
  const family = bytes.readUInt8(13);
  const fieldBytes = bytes.readUInt16BE(14);
  if (version !== 2 || command > 1 || fieldBytes > maxFieldBytes) return "invalid";
  const length = fixedBytes + fieldBytes;
  const isTcp4 = family === 0x11;
  const isTcp6 = family === 0x21;
  const isLocal = command === 0;
  if (!isLocal && ((isTcp4 && fieldBytes < 12) || (isTcp6 && fieldBytes < 36))) return "invalid";
  if (bytes.length < length) return "wait";
  const fields = bytes.subarray(fixedBytes, length);
  if (isLocal || !(isTcp4 || isTcp6)) return { length, address: undefined };
  return { length, address: isTcp4 ? fields.subarray(0, 4).join(".") : ipv6Text(fields.subarray(0, 16)) };
}

function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  // The shortest form, as the operating system writes the addresses of its sockets.
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

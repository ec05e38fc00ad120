import { describe, expect, it } from "vitest";
import { maxProxyHeaderBytes, readProxyHeader } from "./proxy-header.ts";

const line = (text: string): Buffer => Buffer.from(text, "latin1");
const signature = "0d0a0d0a000d0a515549540a";

function version2(commandAndFamily: string, fields: string, declaredBytes = fields.length / 2): Buffer {
  const length = declaredBytes.toString(16).padStart(4, "0");
  return Buffer.from(`${signature}${commandAndFamily}${length}${fields}`, "hex");
}

const tcp4 = "cb007107c6336409a1041e14";
const tcp6 = `20010db8${"0".repeat(23)}1${"20010db8".padEnd(32, "0")}a1041e14`;

const headers: [string, Buffer, string | undefined][] = [
  ["a line for IPv4", line("PROXY TCP4 203.0.113.7 198.51.100.9 41220 7700\r\n"), "203.0.113.7"],
  ["a line for IPv6", line("PROXY TCP6 2001:db8::1 2001:db8::2 41220 7700\r\n"), "2001:db8::1"],
  ["a line of a proxy that does not know", line("PROXY UNKNOWN\r\n"), undefined],
  ["a line of a proxy that does not know, with words", line("PROXY UNKNOWN ff:: ff:: 1 2\r\n"), undefined],
  ["bytes for IPv4", version2("2111", tcp4), "203.0.113.7"],
  ["bytes for IPv6", version2("2121", tcp6), "2001:db8::1"],
  ["bytes with further fields", version2("2111", `${tcp4}030004a9b87e8f`), "203.0.113.7"],
  ["bytes of a health check", version2("2000", ""), undefined],
  ["bytes of a health check with an address", version2("2011", tcp4), undefined],
  ["bytes of another family", version2("2131", "00".repeat(216)), undefined],
];

describe.each(headers)("%s", (_, header, address) => {
  it("is read, whatever follows", () => {
    expect(readProxyHeader(header)).toEqual({ length: header.length, address });
    const followed = Buffer.concat([header, Buffer.from("IWAP00353456789012345#")]);
    expect(readProxyHeader(followed)).toEqual({ length: header.length, address });
  });

  it("is waited for at every cut", () => {
    for (let cut = 0; cut < header.length; cut++) expect(readProxyHeader(header.subarray(0, cut))).toBe("wait");
  });
});

describe("bytes without a valid header", () => {
  it.each([
    ["a device's login", line("IWAP00353456789012345#")],
    ["a device's frame that begins alike", line("PROBE")],
    ["another protocol", line("PROXY UDP4 203.0.113.7 198.51.100.9 1 2\r\n")],
    ["an address of the other family", line("PROXY TCP4 2001:db8::1 198.51.100.9 1 2\r\n")],
    ["no address", line("PROXY TCP4 999.0.113.7 198.51.100.9 1 2\r\n")],
    ["a port above 65535", line("PROXY TCP4 203.0.113.7 198.51.100.9 1 65536\r\n")],
    ["a line without an end", line(`PROXY UNKNOWN ${"x".repeat(200)}`)],
    ["an unknown version", version2("3111", tcp4)],
    ["an unknown command", version2("2211", tcp4)],
    ["too few bytes for its addresses", version2("2111", tcp4.slice(0, 20))],
    ["more bytes than are taken", version2("2111", tcp4, maxProxyHeaderBytes)],
  ])("are refused: %s", (_, bytes) => {
    expect(readProxyHeader(bytes)).toBe("invalid");
  });

  it("never wait for more than the longest header", () => {
    for (const first of ["PROXY ", "\r\n\r\n"]) {
      const bytes = Buffer.alloc(maxProxyHeaderBytes, "A");
      bytes.write(first, "latin1");
      expect(readProxyHeader(bytes)).toBe("invalid");
    }
    let state = 7;
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.from(version2("2111", tcp4));
      for (let change = 0; change < 3; change++) {
        state = (state * 48_271) % 2_147_483_647;
        bytes[state % bytes.length] = state % 251;
      }
      const padded = Buffer.concat([bytes, Buffer.alloc(maxProxyHeaderBytes)]);
      expect(readProxyHeader(padded)).not.toBe("wait");
    }
  });
});

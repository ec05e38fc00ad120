import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** A certificate authority of a test and the certificates it signs, written by hand: Node can read certificates but not make them. */
export interface TestAuthority {
  /** The certificate of the authority, PEM. */
  ca: string;
  issue(names: readonly string[], days?: { from: number; to: number }): { key: string; cert: string };
}

const der = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const octets = (content: Buffer): Buffer => der(0x04, content);
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const trueValue = der(0x01, Buffer.from([0xff]));

const ecdsaSha256 = sequence(oid("2a8648ce3d040302"));
const commonName = "550403";
const subjectAltName = "551d11";
const basicConstraints = "551d13";
const keyUsage = "551d0f";

const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(oid(commonName), der(0x0c, Buffer.from(text)))));

const timeOf = (date: Date): Buffer =>
  der(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`));

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(oid(id), ...(isCritical ? [trueValue] : []), octets(value));

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): string[] => (text === "" ? [] : text.split(":"));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, "0")).join(""), "hex");
}

const altNames = (names: readonly string[]): Buffer =>
  sequence(...names.map((name) => (isIP(name) ? der(0x87, addressBytes(name)) : der(0x82, Buffer.from(name)))));

interface Subject {
  name: string;
  key: KeyObject;
  extensions: readonly Buffer[];
  fromMs: number;
  toMs: number;
}

function certificate(subject: Subject, issuer: { name: string; key: KeyObject }): string {
  const publicKey = createPublicKey(subject.key).export({ type: "spki", format: "der" });
  const serial = Buffer.concat([Buffer.from([1]), randomBytes(15)]);
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaSha256,
    nameOf(issuer.name),
    sequence(timeOf(new Date(subject.fromMs)), timeOf(new Date(subject.toMs))),
    nameOf(subject.name),
    publicKey,
    der(0xa3, sequence(...subject.extensions)),
  );
  const whole = sequence(body, ecdsaSha256, bits(sign("sha256", body, issuer.key)));
  return new X509Certificate(whole).toString();
}

const newKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const dayMs = 86_400_000;

export function makeAuthority(): TestAuthority {
  const issuer = { name: "Vigil test authority", key: newKey() };
  const extensions = [
    extension(basicConstraints, sequence(trueValue), true),
    extension(keyUsage, der(0x03, Buffer.from([1, 0x06])), true),
  ];
  const nowMs = Date.now();
  const ca = certificate({ ...issuer, extensions, fromMs: nowMs - dayMs, toMs: nowMs + 30 * dayMs }, issuer);
  return {
    ca,
    issue: (names, days = { from: -1, to: 30 }) => {
      const key = newKey();
      const subject = {
        name: names[0] ?? "receiver",
        key,
        extensions: [extension(subjectAltName, altNames(names))],
        fromMs: nowMs + days.from * dayMs,
        toMs: nowMs + days.to * dayMs,
      };
      return { key: key.export({ type: "pkcs8", format: "pem" }) as string, cert: certificate(subject, issuer) };
    },
  };
}

import { randomBytes, timingSafeEqual } from "node:crypto";
import type { SessionDevice } from "../codecs/protocol-definition.ts";
import type { LoginProof } from "../codecs/tracker-message.ts";
import type { Db } from "../db/database.ts";
import { findDeviceCode } from "../resources/devices/device-codes.ts";

export type Authentication = SessionDevice["authentication"];

const codeBytes = 8;

/**
 * Checks a device that says how it proves itself, before its connection takes the place of another one. A device that got a
 * code must know it, or ask for it by registering again; one that never registered here has none to know.
 */
export async function authenticate(
  db: Db,
  organizationId: string,
  deviceId: string,
  proof: LoginProof | undefined,
): Promise<"refused" | Authentication> {
  if (proof === undefined) return undefined;
  const stored = await findDeviceCode(db, organizationId, deviceId);
  if (stored === undefined) return { code: randomBytes(codeBytes).toString("hex"), isStored: false };
  const isProven = proof.kind === "registers" || (proof.kind === "code" && isEqual(proof.code, stored));
  return isProven ? { code: stored, isStored: true } : "refused";
}

function isEqual(given: string, stored: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(stored)];
  return a.length === b.length && timingSafeEqual(a, b);
}

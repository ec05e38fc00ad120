import type { Db } from "../../db/database.ts";

/** A SIM as far as it is known. */
export interface Sim {
  iccid: string | null;
  imsi: string | null;
}

const minSharedDigits = 18;

/**
 * Whether the device tells another SIM than the known one. The ICCID decides where both sides have one: a card may change its
 * IMSI while it roams. Devices leave out the check digit of an ICCID or fill it up with letters.
 */
export function isOtherSim(known: Sim, told: Sim): boolean {
  if (known.iccid !== null && told.iccid !== null) return !isSameIccid(known.iccid, told.iccid);
  return known.imsi !== null && told.imsi !== null && known.imsi !== told.imsi;
}

function isSameIccid(one: string, other: string): boolean {
  const [short = "", long = ""] = [one, other]
    .map((iccid) => iccid.replace(/\D/g, ""))
    .sort((a, b) => a.length - b.length);
  if (short.length < minSharedDigits) return short === long;
  return long.startsWith(short) && long.length - short.length <= 2;
}

interface KnownSim {
  device_id: string;
  /** As registered. */
  iccid: string | null;
  sim_iccid: string | null;
  sim_imsi: string | null;
}

/** The SIM that a device had before: the one it last reported, else the registered one. */
export const lastSimOf = ({ iccid, sim_iccid, sim_imsi }: Omit<KnownSim, "device_id">): Sim => ({
  iccid: sim_iccid ?? (sim_imsi === null ? iccid : null),
  imsi: sim_imsi,
});

/** The SIM that a device must have where SIMs are pinned: the registered one, else the one it last reported. */
export const pinnedSimOf = ({ iccid, sim_iccid, sim_imsi }: Omit<KnownSim, "device_id">): Sim => ({
  iccid: iccid ?? sim_iccid,
  imsi: sim_imsi,
});

export const listKnownSims = (db: Db, deviceIds: readonly string[], organizationIds: readonly string[]) =>
  db.many<KnownSim>`
    select s.device_id, d.iccid, s.sim_iccid, s.sim_imsi from device_state s join devices d on d.id = s.device_id
    where s.device_id = any(${deviceIds}::uuid[]) and s.organization_id = any(${organizationIds}::uuid[])`;

export const saveSim = (db: Db, organizationId: string, deviceId: string, sim: Sim): Promise<number> =>
  db.run`
    update device_state set sim_iccid = ${sim.iccid}, sim_imsi = ${sim.imsi}, sim_refused_at = null
    where organization_id = ${organizationId} and device_id = ${deviceId}`;

const refusedEveryMs = 60 * 60_000;

/** True: no login of the device with another SIM was reported within the hour, so this one is reported. */
export async function claimSimRefusal(db: Db, organizationId: string, deviceId: string, now: Date): Promise<boolean> {
  const claimed = await db.run`
    update device_state set sim_refused_at = ${now}
    where organization_id = ${organizationId} and device_id = ${deviceId}
      and (sim_refused_at is null or sim_refused_at <= ${new Date(now.getTime() - refusedEveryMs)})`;
  return claimed > 0;
}

import { MalformedFrame } from "../malformed-frame.ts";
import type { DeviceInfo, TrackerMessage } from "../tracker-message.ts";
import { cleanText, type IwFrame, vitals } from "./fields.ts";
import { unixTimeOf, utcTimeOf } from "./time.ts";

/** AP00: the IMEI, and from some watches the SIM's numbers; kids' watches send a name and a language there. */
export function readLogin({ fields }: IwFrame): TrackerMessage[] {
  const id = fields[0]?.trim() ?? "";
  if (!/^\d{15}$/.test(id)) throw new MalformedFrame("bad IMEI");
  const iccid = /^(\d{18,20})f?$/i.exec(fields[1]?.trim() ?? "")?.[1];
  const imsi = /^(\d{14,15})(?:DCX)?$/.exec(fields[2]?.trim() ?? "")?.[1];
  const info: DeviceInfo = { kind: "info", ...(iccid ? { iccid } : {}), ...(imsi ? { imsi } : {}) };
  return iccid || imsi ? [info, { kind: "login", id }] : [{ kind: "login", id }];
}

/** APVR: IMEI and firmware. */
export function readVersion({ fields }: IwFrame): TrackerMessage[] {
  const firmware = cleanText(fields.slice(1).join(","));
  if (firmware === "") throw new MalformedFrame("no firmware");
  return [{ kind: "info", firmware }];
}

/** APBL: IMEI, `mac|rssi|name` joined by semicolons, own address, time. */
export function readBeacons({ fields }: IwFrame): TrackerMessage[] {
  const [, list = "", ownMac = "", time = ""] = fields;
  const beacons = list.split(";").flatMap((item) => {
    const [mac = "", rssi = "", ...name] = item.split("|");
    if (mac.trim() === "") return [];
    const signal = /^-?\d{1,3}$/.test(rssi.trim()) ? Number(rssi) : null;
    return [{ mac: cleanText(mac).toLowerCase(), rssi: signal, name: cleanText(name.join("|")) }];
  });
  const extra = { beacons, own_mac: cleanText(ownMac).toLowerCase() };
  return [vitals(unixTimeOf(time) ?? utcTimeOf(time.trim()), {}, extra)];
}

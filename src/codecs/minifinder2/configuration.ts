import type { DeviceInfo, TrackerMessage, Vitals } from "../tracker-message.ts";
import { ByteReader } from "../wire/byte-reader.ts";
import { type Item, readTolerantly, textOf } from "./items.ts";

/** The settings that a device tells when it is asked for them; kept is what the service has a place for. */
export function readConfiguration(items: readonly Item[]): TrackerMessage[] {
  const info: DeviceInfo = { kind: "info" };
  const metrics: Vitals["metrics"] = {};
  const extra: Vitals["extra"] = {};
  readTolerantly(items, ({ key, value }) => {
    const reader = new ByteReader(value);
    switch (key) {
      case 0x04:
        if (/^\d{18,22}$/.test(textOf(value))) info.iccid = textOf(value);
        return;
      case 0x0e:
        extra.utc_offset_minutes = reader.i8() * 15;
        return;
      case 0x14:
        metrics.bat = Math.min(reader.u8(), 100);
        extra.battery_v = reader.u16le() / 1000;
        return;
      case 0x1a:
        if (textOf(value) !== "") info.firmware = textOf(value);
        return;
      case 0x44:
        // The highest bit says whether there are heartbeats at all.
        extra.heartbeat_seconds = reader.u32le() & 0x7fffffff;
        extra.upload_seconds = reader.u32le();
        extra.upload_lazy_seconds = reader.u32le();
        return;
      case 0x64:
        metrics.gsm_signal = signalOf(reader.u8());
        return;
      case 0x66:
        if (/^\d{14,15}$/.test(textOf(value))) info.imsi = textOf(value);
    }
  });
  const hasReadings = Object.keys(metrics).length + Object.keys(extra).length > 0;
  return [
    ...(Object.keys(info).length > 1 ? [info] : []),
    ...(hasReadings ? [{ kind: "vitals", deviceTimeMs: null, metrics, extra } as const] : []),
  ];
}

const signalOf = (signal: number): number | null => (signal > 31 ? null : signal);

import type { Tally } from "./tally.ts";

/** The counts of a simulation as a line for people, rates since the line before. */
export function makeProgressLine(tally: Tally, devices: number, startMs: number): (nowMs: number) => string {
  let [sent, acked, atMs] = [tally.sent, tally.acked, startMs];
  return (nowMs) => {
    const seconds = Math.max(0.001, (nowMs - atMs) / 1000);
    const rate = (count: number): string => (count / seconds).toFixed(count / seconds < 10 ? 1 : 0);
    const line =
      `${tally.online} of ${devices} connected, ${rate(tally.sent - sent)} packets/s sent, ` +
      `${rate(tally.acked - acked)}/s acknowledged, ${tally.alarms} alarms, ${tally.commands} commands, ` +
      `${tally.errors} errors${tally.lastFailure === undefined ? "" : ` (last: ${tally.lastFailure})`}`;
    [sent, acked, atMs] = [tally.sent, tally.acked, nowMs];
    return line;
  };
}

export interface Summary {
  devices: number;
  connected: number;
  seconds: number;
  connections: number;
  packets_sent: number;
  packets_expecting_answer: number;
  packets_acked: number;
  packets_resent: number;
  packets_dropped: number;
  ack_ms: { p50: number | null; p95: number | null; p99: number | null };
  alarms: number;
  commands: number;
  texts: number;
  voice_sent: number;
  voice_received: number;
  voice_parts_received: number;
  ecg_sent: number;
  errors: { refused_logins: number; unreadable_frames: number; connections: Record<string, number> };
}

/** To be made before the devices are closed: afterwards none is connected. */
export const summarize = (tally: Tally, devices: number, elapsedMs: number): Summary => ({
  devices,
  connected: tally.online,
  seconds: Math.round(elapsedMs / 100) / 10,
  connections: tally.connections,
  packets_sent: tally.sent,
  packets_expecting_answer: tally.expectingAnswer,
  packets_acked: tally.acked,
  packets_resent: tally.resent,
  packets_dropped: tally.dropped,
  ack_ms: { p50: tally.waitMs(0.5), p95: tally.waitMs(0.95), p99: tally.waitMs(0.99) },
  alarms: tally.alarms,
  commands: tally.commands,
  texts: tally.texts,
  voice_sent: tally.voiceSent,
  voice_received: tally.voiceReceived,
  voice_parts_received: tally.voicePartsReceived,
  ecg_sent: tally.ecgSent,
  errors: {
    refused_logins: tally.refusedLogins,
    unreadable_frames: tally.unreadable,
    connections: Object.fromEntries(tally.failures),
  },
});

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { VoiceService } from "../../src/audio/voice-service.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { makeLogger } from "../../src/lib/logger.ts";
import { Metrics } from "../../src/lib/metrics.ts";
import { makeOutcomeMetrics } from "../../src/outbox/outcome-metrics.ts";
import { makeCommandSweep } from "../../src/resources/commands/command-sweep.ts";
import { expireMessages } from "../../src/resources/messages/message-delivery.ts";
import { observeDeviceWork } from "../../src/roles/device-work-gauges.ts";
import { iwDevice, serialIn } from "../support/command-world.ts";
import type { TestGateway } from "../support/gateway.ts";
import { ecgFrame } from "../support/iw-watch.ts";
import { type MessageWorld, openMessageWorld } from "../support/message-world.ts";
import { fixture } from "../support/voice-samples.ts";
import { openIwWatch } from "../support/voice-watch.ts";

const clock = makeManualClock(new Date());
let world: MessageWorld;
let gateway: TestGateway;

beforeAll(async () => {
  world = await openMessageWorld(clock);
  gateway = await world.openGateway();
});
afterAll(() => world.close());

/** What is counted after the commit may come a moment after its answer. */
const until = (isSo: () => boolean): Promise<boolean> => vi.waitUntil(isSo, { timeout: 10_000, interval: 20 });
const valueIn = (metrics: Metrics, series: string): number => {
  const lines = metrics.render().split("\n");
  return Number(
    lines
      .find((line) => line.startsWith(`${series} `))
      ?.split(" ")
      .at(-1) ?? 0,
  );
};

it("the service counts how commands end, and the time they took, once each", async () => {
  const uid = await world.device();
  const device = await iwDevice(gateway, uid);
  const id = await world.command(uid, "locate_now");
  await world.until(uid, id, "sent");
  clock.advanceMs(2000);
  device.write(`IWAP16,${serialIn(await device.until("IWBP16"))}#`);
  await world.until(uid, id, "ack_ok");
  await until(() => gateway.metric('vigil_commands_total{status="ack_ok",code="none"}') === 1);
  expect(gateway.metric('vigil_command_seconds_sum{status="ack_ok"}')).toBe(2);
  const mode = await world.command(uid, "set_working_mode", { mode: "normal" });
  await world.until(uid, mode, "sent");
  device.write(`IWAP33,${serialIn(await device.until("IWBP33"))},3#`);
  await world.until(uid, mode, "ack_error");
  await until(() => gateway.metric('vigil_commands_total{status="ack_error",code="device_rejected"}') === 1);
  await device.close();

  const metrics = new Metrics();
  const sweep = makeCommandSweep(world.api.db, clock, makeOutcomeMetrics(metrics));
  const away = await world.device();
  await world.command(away, "locate_now", {}, { expires_in: 60 });
  const stop = observeDeviceWork(world.api.db, metrics, makeLogger("silent"), 20);
  await until(() => valueIn(metrics, 'vigil_commands_open{status="pending"}') === 1);
  clock.advanceMs(60_000);
  await sweep();
  await sweep();
  expect(valueIn(metrics, 'vigil_commands_total{status="timeout",code="expired"}')).toBe(1);
  await until(() => valueIn(metrics, 'vigil_commands_open{status="pending"}') === 0);
  await world.sendText(away, "wait");
  await until(() => valueIn(metrics, 'vigil_messages_open{status="pending"}') === 1);
  await stop();
});

it("the service counts messages in both directions and ECG recordings, and shows nothing of their content", async () => {
  const uid = await world.device();
  const watch = await openIwWatch(gateway.address.port, uid);
  const id = await world.sendText(uid, "Secret pills");
  await world.untilStatus(uid, id, "delivered");
  const delivered = 'vigil_messages_total{direction="outbound",kind="text",outcome="delivered",reason="none"}';
  await until(() => gateway.metric(delivered) === 1);
  await watch.close();
  const device = await iwDevice(gateway, uid);
  device.write(ecgFrame({ total: 1, sequence: 1, samples: [1, 2, 3, 4] }));
  await until(() => gateway.metric('vigil_ecg_recordings_total{status="complete"}') === 1);
  const hex = Buffer.from("Secret answer", "utf16le").swap16().toString("hex");
  device.write(`IWAP07,20261116100000,0,0,${hex.length},${hex}#`);
  const received = 'vigil_messages_total{direction="inbound",kind="text",outcome="received",reason="none"}';
  await until(() => gateway.metric(received) === 1);
  await device.close();

  const metrics = new Metrics();
  const late = await world.device();
  await world.sendText(late, "Secret pills");
  await expireMessages(world.api.db, new Date(clock.nowMs() + 86_400_000), makeOutcomeMetrics(metrics));
  const failed =
    'vigil_messages_total{direction="outbound",kind="text",outcome="failed",reason="device_offline_expired"}';
  expect(valueIn(metrics, failed)).toBeGreaterThan(0);
  expect(gateway.metrics.render() + metrics.render()).not.toContain("Secret");
});

it("the service counts audio conversions by outcome", async () => {
  const metrics = new Metrics();
  const voice = new VoiceService({ kind: "espeak" }, { metrics });
  const form = { bitRate: 12_200, maxDurationMs: 30_000 };
  await voice.toDeviceAudio("organization", fixture("voice.amr"), form);
  await voice.toDeviceAudio("organization", Buffer.from("no sound"), form);
  await voice.close();
  await expect(voice.toWav("organization", fixture("voice.amr"))).rejects.toMatchObject({
    code: "service_unavailable",
  });
  const countOf = (labels: string): number => valueIn(metrics, `vigil_audio_jobs_total{${labels}}`);
  expect(countOf('kind="upload",outcome="converted"')).toBe(1);
  expect(countOf('kind="upload",outcome="not_audio"')).toBe(1);
  expect(countOf('kind="listen",outcome="refused"')).toBe(1);
  expect(valueIn(metrics, 'vigil_audio_job_seconds_count{kind="upload"}')).toBe(2);
});

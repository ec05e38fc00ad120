import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { protocols } from "../../src/codecs/protocols.ts";
import { type Attack, dripBytes, floodVoice, guessImeis } from "../support/attackers.ts";
import { imeis } from "../support/devices.ts";
import { type GatewayWorld, openGatewayWorld, type TestGateway } from "../support/gateway.ts";
import { quantile, SosWatch } from "../support/sos-watch.ts";

/** Attacks over real sockets, beside one honest watch that calls for help: its answers are what counts. */
const nextImei = imeis();
const maxAnswerMs = 5000;
let world: GatewayWorld;
let gateway: TestGateway;
const attacks: Attack[] = [];
const watches: SosWatch[] = [];

beforeAll(async () => {
  world = await openGatewayWorld();
  gateway = await world.open({ protocols, ingest: { inFlight: 2 }, limits: { sweepEveryMs: 1000 } });
});
afterEach(() => {
  for (const one of [...attacks.splice(0), ...watches.splice(0)]) one.close();
});
afterAll(() => world.close());

async function honestWatch(from: string): Promise<SosWatch> {
  const imei = nextImei();
  await world.addDevice(imei);
  const watch = new SosWatch(gateway.address.port, from, imei);
  watches.push(watch);
  await watch.loggedIn();
  return watch;
}

async function callForHelp(watch: SosWatch, times: number): Promise<void> {
  for (let round = 0; round < times; round++) {
    watch.callForHelp();
    await vi.waitUntil(() => watch.waitingMs === 0, { timeout: 20_000, interval: 5 });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function report(name: string, watch: SosWatch): void {
  const figures = [0.5, 0.99].map((share) => Math.round(quantile(watch.times, share)));
  console.log(`${name}: ${watch.times.length} calls for help answered, p50 ${figures[0]} ms, p99 ${figures[1]} ms`);
  expect(quantile(watch.times, 0.99)).toBeLessThan(maxAnswerMs);
}

test("2,000 connections that drip a byte a second delay nobody", async () => {
  const watch = await honestWatch("127.0.0.9");
  const attack = dripBytes(gateway.address.port, ["127.0.0.2"], 2000, 1000);
  attacks.push(attack);
  await vi.waitUntil(() => gateway.metric("vigil_gateway_unlogged_connections") > 1900, { timeout: 30_000 });
  await callForHelp(watch, 40);
  report("drip", watch);
  // Another one of the same address still gets in.
  await honestWatch("127.0.0.2");
}, 120_000);

test("20 watches that flood recordings delay nobody, and fill no common budget", async () => {
  const watch = await honestWatch("127.0.0.9");
  for (let n = 0; n < 20; n++) {
    const imei = nextImei();
    await world.addDevice(imei);
    attacks.push(floodVoice(gateway.address.port, `127.0.2.${n + 1}`, imei));
  }
  let maxBytes = 0;
  const timer = setInterval(() => {
    maxBytes = Math.max(maxBytes, gateway.metric("vigil_ingest_queue_bytes"));
    expect(gateway.metric("vigil_gateway_paused")).toBe(0);
  }, 20);
  await vi.waitUntil(() => maxBytes > 1_000_000, { timeout: 20_000 });
  await callForHelp(watch, 40);
  clearInterval(timer);
  report(`voice, ${Math.round(maxBytes / 1024)} KB waited at most`, watch);
  expect(maxBytes).toBeLessThan(20 * 512 * 1024);
}, 120_000);

test("a guesser is slowed, and devices at its address still get in", async () => {
  const { port } = gateway.address;
  const neighbour = await honestWatch("127.0.0.4");
  const guesser = guessImeis(port, "127.0.0.4", 50, 350_000_000_000_000);
  attacks.push(guesser);
  await vi.waitUntil(() => gateway.metric("vigil_gateway_slowed_networks") === 1, { timeout: 20_000 });
  const before = guesser.answered;
  const startedMs = performance.now();
  await callForHelp(neighbour, 20);
  neighbour.close();
  // It was seen from there: it does not wait behind the guesses, of which there are 25 seconds.
  const again = new SosWatch(port, "127.0.0.4", neighbour.imei);
  watches.push(again);
  const loginStartedMs = performance.now();
  await again.loggedIn();
  const loginMs = Math.round(performance.now() - loginStartedMs);
  console.log(`login behind the guesser's address: ${loginMs} ms`);
  expect(loginMs).toBeLessThan(15_000);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const perSecond = ((guesser.answered - before) * 1000) / (performance.now() - startedMs);
  console.log(`guesses answered: ${perSecond.toFixed(1)} a second`);
  expect(perSecond).toBeLessThan(15);
  report("guessing", neighbour);
}, 120_000);

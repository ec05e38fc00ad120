import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { setWebhookPaused } from "../../src/resources/organizations/integration-store.ts";
import { cliActor } from "../support/api.ts";
import { makeAuthority } from "../support/certificates.ts";
import { type DeliveryWorld, openDeliveryWorld, type TestHook } from "../support/delivery.ts";
import { openReceiver, type Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const authority = makeAuthority();
let world: DeliveryWorld;
let receiver: Receiver;

beforeAll(async () => {
  world = await openDeliveryWorld(authority);
});
afterEach(async () => {
  await world.closeWorkers();
  await receiver.close();
});
afterAll(() => world.close());

const pause = ({ organizationId, id }: TestHook, isPaused: boolean) =>
  world.db.transaction((tx) =>
    setWebhookPaused(tx, organizationId, id, isPaused, cliActor(organizationId), new Date()),
  );
const received = (): string[] => receiver.calls.map(({ id }) => id);

describe("a paused webhook", () => {
  it("keeps its rows, those of the pause too, and sends them in order when it goes on", async () => {
    receiver = await openReceiver(authority);
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    const other = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker({ maxInFlightPerLane: 1 });
    const [first] = await hook.append("alarm.sos");
    await until(() => expect(received()).toEqual([first]));
    await pause(hook, true);
    const kept = await hook.append("alarm.sos", "alarm.fall", "alarm.sos", "geofence.exit");
    const [mark] = await other.append("alarm.sos");
    await until(() => expect(received()).toEqual([first, mark]));
    expect(await world.openOf(hook)).toEqual([]);
    await pause(hook, false);
    await until(() => expect(received()).toEqual([first, mark, ...kept]));
  });

  it("finishes attempts in progress without sending them again, and keeps failed rows waiting", async () => {
    const held: (() => void)[] = [];
    receiver = await openReceiver(authority, {
      answer: (_, response) => {
        held.push(() => response.writeHead(200).end());
        return undefined;
      },
    });
    const hook = await world.makeHook({ webhookUrl: receiver.url });
    await world.startWorker();
    const [slow] = await hook.append("alarm.sos");
    await until(() => expect(received()).toEqual([slow]));
    await pause(hook, true);
    for (const end of held.splice(0)) end();
    await until(async () => expect(await world.attemptsOf(hook)).toHaveLength(1));
    receiver.answer(200);
    const later = await hook.append("alarm.fall");
    await pause(hook, false);
    await until(() => expect(received()).toEqual([slow, ...later]));
    await until(async () => expect(await world.attemptsOf(hook)).toHaveLength(2));
  });
});

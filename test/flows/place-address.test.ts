import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { notify } from "../../src/db/listener.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { placeChannel } from "../../src/places/place-job.ts";
import { insertPlaceJobs } from "../../src/places/place-store.ts";
import {
  answered,
  openPlaceWorld,
  type PlaceWorld,
  replyWith,
  report,
  rome,
  secret,
  start,
} from "../support/place-world.ts";
import { until } from "../support/until.ts";

let world: PlaceWorld;
beforeAll(async () => {
  world = await openPlaceWorld();
});
afterEach(() => world.reset());
afterAll(() => world.close());

const metre = 1 / 111_195;

test("the address of a stored location is asked in the form of Nominatim, with the operator's own query", async () => {
  const service = await world.openService(replyWith(200, { place_id: 1, display_name: "Via Nazionale\u0000 7, Roma" }));
  const url = `${service.url}&accept-language=it%2Cen&format=xml&zoom=18`;
  await world.openWorker({ geocoderUrl: url });
  const [device, other] = [newUuid(), newUuid()];
  await world.storeFix(other, start, rome);
  await world.queue(await world.storeFix(device, start, rome));
  await world.untilDone();
  const [question] = service.questions;
  expect(question?.method).toBe("GET");
  expect(question?.url.search).toBe(
    `?key=${secret}&accept-language=it%2Cen&zoom=18&lat=41.9027820&lon=12.4963660&format=jsonv2`,
  );
  const rows = await world.locations();
  expect(rows.find(({ device_id }) => device_id === device)?.address).toBe("Via Nazionale  7, Roma");
  expect(rows.find(({ device_id }) => device_id === other)?.address).toBeNull();
});

test("an address is reused within 50 m of where it was asked, and shared by devices at the same spot", async () => {
  let number = 0;
  const service = await world.openService((_question, response) => {
    response.end(JSON.stringify({ display_name: `Via Roma ${++number}` }));
  });
  await world.openWorker({ geocoderUrl: service.url });
  const device = newUuid();
  const addressAt = async (deviceId: string, metres: number): Promise<string | null> => {
    const job = await world.storeFix(deviceId, start, { lat: rome.lat + metres * metre, lng: rome.lng });
    await world.queue(job);
    await world.untilDone();
    const id = job.kind === "address" ? job.payload.location_id : "";
    return (await world.locations()).find((location) => location.id === id)?.address ?? null;
  };
  expect(await addressAt(device, 0)).toBe("Via Roma 1");
  expect(await addressAt(device, 30)).toBe("Via Roma 1");
  expect(await addressAt(device, 49)).toBe("Via Roma 1");
  // Small steps add up: what counts is the way from where the address was asked.
  expect(await addressAt(device, 60)).toBe("Via Roma 2");
  expect(await addressAt(device, 100)).toBe("Via Roma 2");
  expect(service.questions).toHaveLength(2);
  expect(await addressAt(newUuid(), 1)).toBe("Via Roma 1");
  expect(await addressAt(newUuid(), 400)).toBe("Via Roma 3");
  expect(service.questions).toHaveLength(3);
});

test("where the geocoder knows nothing the address stays empty, and nobody asks again that day", async () => {
  const service = await world.openService(replyWith(200, { error: "Unable to geocode" }));
  await world.openWorker({ geocoderUrl: service.url });
  for (let run = 0; run < 2; run++) {
    await world.queue(await world.storeFix(newUuid(), start, { lat: 0.5, lng: -30 }));
    await world.untilDone();
  }
  expect(service.questions).toHaveLength(1);
  expect((await world.locations()).map(({ address }) => address)).toEqual([null, null]);
});

test("a position found by networks gets an address too", async () => {
  const geolocate = await world.openService(replyWith(200, answered));
  const geocoder = await world.openService(replyWith(200, { display_name: "Piazza Navona" }));
  await world.openWorker({ geolocateUrl: geolocate.url, geocoderUrl: geocoder.url, pollMs: 60_000 });
  await world.db.transaction(async (tx) => {
    await insertPlaceJobs(tx, [report()]);
    await notify(tx, placeChannel, "");
  });
  await until(async () => expect(await world.locations()).toMatchObject([{ address: "Piazza Navona" }]));
  await world.untilDone();
});

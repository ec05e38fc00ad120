import { expect, test } from "vitest";
import { parseRetention } from "./retention.ts";

test("the retention setting changes the kinds that are named, and keeps the others as they were", () => {
  expect(parseRetention("locations=365d, telemetry=30d", { events: 10, locations: 1 })).toEqual({
    locations: 365,
    telemetry: 30,
    events: 10,
  });
  expect(parseRetention("events=keep", { events: 10, messages: 5 })).toEqual({ messages: 5 });
});

test.each([
  "locations",
  "locations=365",
  "walks=3d",
  "events=0d",
  "events=99999d",
  "events=-1d",
  "locations=1d;events=2d",
])("the retention setting says what is wrong with %s", (text) => {
  expect(parseRetention(text, {})).toContain(`"${text}"`);
});

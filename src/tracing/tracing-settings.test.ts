import { expect, it } from "vitest";
import { parseHeaderList } from "./tracing-settings.ts";

it("reads headers as OpenTelemetry writes them", () => {
  expect(parseHeaderList("Authorization=Bearer%20abc, x-scope=care")).toEqual({
    authorization: "Bearer abc",
    "x-scope": "care",
  });
});

it.each(["", "name", "a b=c", "a=%zz", "a=b,"])("refuses %j", (text) => {
  expect(parseHeaderList(text)).toBeUndefined();
});

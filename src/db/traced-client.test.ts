import { expect, it } from "vitest";
import { summaryOf } from "./traced-client.ts";

it.each([
  ["select id from devices where organization_id = $1", "SELECT devices"],
  ["\n    with a as (select 1) update commands set status = $1", "WITH commands"],
  ["insert into outbound_events (id) select $1", "INSERT outbound_events"],
  ["copy locations (id) from stdin (format binary)", "COPY locations"],
  ["begin", "BEGIN"],
  ["$", "STATEMENT"],
])("%j is summed up as %s", (text, summary) => {
  expect(summaryOf(text)).toBe(summary);
});

import { expect, it } from "vitest";
import { curlOf } from "./curl-command.ts";

it("writes one command whose words are what was given, whatever is in them", () => {
  expect(curlOf("https://a.example/h?x=1&y='2'", { "X-Event-Type": "alarm.sos" }, '{"name":"Anna\'s"}')).toBe(
    [
      "curl -i -X POST 'https://a.example/h?x=1&y='\\''2'\\''' \\",
      "  -H 'X-Event-Type: alarm.sos' \\",
      `  --data-raw '{"name":"Anna'\\''s"}'`,
    ].join("\n"),
  );
});

import { expect, it } from "vitest";
import { describeAgent } from "./user-agent.ts";

it("names browser and system of a session", () => {
  const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0 Safari/537.36";
  expect(describeAgent(chrome)).toBe("Chrome, Windows");
  expect(describeAgent(`${chrome} Edg/126.0`)).toBe("Edge, Windows");
  expect(describeAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Safari/604.1")).toBe(
    "Safari, iPhone",
  );
  expect(describeAgent("Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0")).toBe(
    "Firefox, Linux",
  );
});

it("shows what it does not know as it was sent", () => {
  expect(describeAgent("curl/8.5.0")).toBe("curl/8.5.0");
  expect(describeAgent("")).toBe("–");
});

import { expect, it } from "vitest";
import { allScopes } from "../../src/oauth/scopes.ts";
import { bodyOf, newDraft, wordsOf } from "./integration-draft.ts";

it("reads words that are separated by commas, spaces or lines", () => {
  expect(wordsOf(" a.example, b.example;c.example\nd.example ,")).toEqual([
    "a.example",
    "b.example",
    "c.example",
    "d.example",
  ]);
  expect(wordsOf("  ")).toEqual([]);
});

it("sends an empty address as no webhook", () => {
  expect(bodyOf({ ...newDraft, name: "App", webhookUrl: " " })).toEqual({
    name: "App",
    scopes: allScopes,
    webhook_url: null,
    webhook_event_types: [],
    webhook_device_filter: [],
    link_hosts: [],
    messaging_enabled: false,
  });
});

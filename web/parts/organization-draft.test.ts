import { expect, test } from "vitest";
import { newOrganization, organizationBody, organizationDraft } from "./organization-draft.ts";

test("a form that nobody has changed sends what is stored", () => {
  const stored = {
    id: "1",
    slug: "care-co",
    name: "Care Co",
    timezone: "Europe/Rome",
    default_locale: "it",
    features: ["pin_sim" as const],
    rate_limits: { per_minute: 10, per_hour: 100 },
    retention: { locations: 365 },
    gateway_networks: ["10.0.0.0/8", "fd00::/8"],
    share_domains: ["care.example"],
    created_at: "2026-03-01T08:15:30.123Z",
    devices: 1,
    members: 1,
  };
  const { id: _id, created_at: _at, devices: _devices, members: _members, ...settings } = stored;
  expect(organizationBody(organizationDraft(stored))).toEqual(settings);
});

test("an empty slug is left to the service, and history without days is kept", () => {
  const body = organizationBody({
    ...newOrganization,
    name: "Care Co",
    retention: { events: " " },
    domains: "a.example b.example",
  });
  expect(body).not.toHaveProperty("slug");
  expect(body).toMatchObject({ retention: {}, share_domains: ["a.example", "b.example"], gateway_networks: [] });
});

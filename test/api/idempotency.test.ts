import { Type } from "@sinclair/typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { created, type Route, route } from "../../src/http/route.ts";
import { refTo } from "../../src/http/schemas.ts";
import { type ManualClock, makeManualClock } from "../../src/lib/clock.ts";
import { imeiConflict, notFound, throttled } from "../../src/lib/errors.ts";
import { newUuid } from "../../src/lib/ids.ts";
import { openTestApi, type TestApi } from "../support/api.ts";
import {
  fetchToken,
  logIn,
  makeIntegration,
  makeOrganization,
  makePerson,
  type TestIntegration,
  type TestOrganization,
} from "../support/world.ts";

const Note = Type.Object({ id: Type.String(), text: Type.String() }, { $id: "Note" });
const NoteRequest = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 20 }), tags: Type.Optional(Type.Array(Type.String())) },
  { $id: "NoteRequest" },
);

/** A resource made for this file: creates a row, or fails in the way its text asks for. */
function noteRoutes(gate: { wait: Promise<void> }): Route[] {
  return [
    route({
      method: "POST",
      path: "/api/v1/notes/",
      operationId: "notes_create",
      tag: "Notes",
      summary: "Create a note",
      partners: ["org:read"],
      people: "ADMIN",
      isIdempotent: true,
      body: refTo(NoteRequest),
      responses: { 201: refTo(Note) },
      errors: [404, 409],
      handle: async ({ body, transaction, organizationId, link }) => {
        const { text } = body;
        const id = newUuid();
        await transaction((tx) => tx.run`insert into notes values (${id}, ${organizationId}, ${text})`);
        if (text === "wait") await gate.wait;
        if (text === "conflict") throw imeiConflict();
        if (text === "gone") throw notFound();
        if (text === "busy") throw throttled(1);
        if (text === "broken") throw new Error("broken on purpose");
        return created({ id, text }, { Location: link(`/api/v1/notes/${id}/`) });
      },
    }),
  ];
}

describe("Idempotency-Key", () => {
  let clock: ManualClock;
  let api: TestApi;
  let organization: TestOrganization;
  let integration: TestIntegration;
  let open: () => void = () => undefined;
  const gate = { wait: Promise.resolve() };

  beforeAll(async () => {
    clock = makeManualClock(new Date());
    api = await openTestApi({ clock, routes: noteRoutes(gate) });
    await api.db.run`create table notes (id uuid primary key, organization_id uuid not null, text text not null)`;
    organization = await makeOrganization(api);
    integration = await makeIntegration(api, organization);
  });
  afterAll(() => api.close());

  const post = (
    body: unknown,
    key: string | undefined,
    options: { token?: string; path?: string; headers?: Record<string, string> } = {},
  ) =>
    api.call("POST", options.path ?? "/api/v1/notes/", {
      token: options.token ?? integration.token,
      body,
      headers: { ...(key === undefined ? {} : { "idempotency-key": key }), ...options.headers },
    });
  const countOf = async (text: string) =>
    (await api.db.one<{ count: number }>`select count(*) as count from notes where text = ${text}`).count;

  it("answers again with the first answer, marked as a replay", async () => {
    const first = await post({ text: "once", tags: ["a"] }, "k1");
    expect([first.status, first.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    const again = await post({ tags: ["a"], text: "once" }, "k1");
    expect([again.status, again.headers["idempotency-replayed"]]).toEqual([201, "true"]);
    expect(again.text).toBe(first.text);
    expect(again.headers.location).toBe(first.headers.location);
    expect(again.headers["content-type"]).toBe(first.headers["content-type"]);
    expect(again.headers["x-request-id"]).not.toBe(first.headers["x-request-id"]);
    expect(await countOf("once")).toBe(1);
  });

  it("reads a quoted key as the bare one, and the path without its slash as the same", async () => {
    await post({ text: "quoted" }, '"k2"');
    expect((await post({ text: "quoted" }, "k2", { path: "/api/v1/notes" })).headers["idempotency-replayed"]).toBe(
      "true",
    );
  });

  it("refuses the key with another body", async () => {
    await post({ text: "mine" }, "k3");
    const other = await post({ text: "other" }, "k3");
    expect([other.status, other.body.code]).toEqual([422, "idempotency_key_reuse"]);
    expect(await countOf("other")).toBe(0);
  });

  it("belongs to the integration, not to the token, and not to another integration", async () => {
    await post({ text: "shared" }, "k4");
    const sameClient = await post({ text: "shared" }, "k4", { token: await fetchToken(api, integration) });
    expect(sameClient.headers["idempotency-replayed"]).toBe("true");
    const stranger = await makeIntegration(api, organization);
    const strangers = await post({ text: "shared" }, "k4", { token: stranger.token });
    expect([strangers.status, strangers.headers["idempotency-replayed"]]).toEqual([201, undefined]);
  });

  it("belongs to a person in one organization, not to the person in another", async () => {
    const other = await makeOrganization(api);
    const here = await makePerson(api, organization, "ADMIN");
    const there = await makePerson(api, other, "ADMIN", here.email);
    await post({ text: "two hats" }, "k4p", { token: here.token });
    const answer = await post({ text: "two hats" }, "k4p", { token: there.token });
    expect([answer.status, answer.headers["idempotency-replayed"]]).toEqual([201, undefined]);
    expect(await countOf("two hats")).toBe(2);
    const again = await post({ text: "two hats" }, "k4p", { token: await logIn(api, here.email, organization.slug) });
    expect(again.headers["idempotency-replayed"]).toBe("true");
  });

  it("is forgotten after 24 hours", async () => {
    await post({ text: "day" }, "k5");
    clock.advanceMs(24 * 3600_000 - 1);
    integration.token = await fetchToken(api, integration);
    expect((await post({ text: "day" }, "k5")).headers["idempotency-replayed"]).toBe("true");
    clock.advanceMs(1);
    expect((await post({ text: "day" }, "k5")).headers["idempotency-replayed"]).toBeUndefined();
    expect(await countOf("day")).toBe(2);
  });

  it.each(["", " ", "é", "a".repeat(256), '""', "tab\there"])("refuses the key %j", async (key) => {
    const answer = await post({ text: "bad key" }, key);
    expect([answer.status, answer.body.code]).toEqual([400, "validation_error"]);
    expect(answer.body.errors).toEqual({ "Idempotency-Key": [expect.any(String)] });
    expect(await countOf("bad key")).toBe(0);
  });

  it("keeps refusals of the request itself, with their request_id, and undoes what they wrote", async () => {
    for (const [text, status] of [
      ["conflict", 409],
      ["gone", 404],
      ["", 400],
    ] as const) {
      const first = await post({ text }, `stored-${status}`);
      expect([text, first.status]).toEqual([text, status]);
      const again = await post({ text }, `stored-${status}`);
      expect([again.status, again.headers["idempotency-replayed"], again.text]).toEqual([status, "true", first.text]);
      expect(await countOf(text)).toBe(0);
    }
  });

  it("does not keep 429, 5xx, 413, 415 and parse errors", async () => {
    for (const [text, status] of [
      ["busy", 429],
      ["broken", 500],
    ] as const) {
      for (const _ of [1, 2]) {
        const answer = await post({ text }, `free-${status}`);
        expect([answer.status, answer.headers["idempotency-replayed"]]).toEqual([status, undefined]);
      }
      expect(await countOf(text)).toBe(0);
    }
    const raw = async (body: string, type: string) =>
      (await post(body, "free", { headers: { "content-type": type } })).status;
    expect(await raw("{", "application/json")).toBe(400);
    expect(await raw("text=a", "text/plain")).toBe(415);
    expect(await raw(JSON.stringify({ text: "a".repeat(70_000) }), "application/json")).toBe(413);
    expect((await post({ text: "free at last" }, "free")).status).toBe(201);
  });

  it("has one winner among 100 parallel calls; the others wait or get its answer", async () => {
    gate.wait = new Promise((resolve) => {
      open = resolve;
    });
    const first = post({ text: "wait" }, "race");
    await expect.poll(async () => (await post({ text: "wait" }, "race")).status).toBe(409);
    const meanwhile = await Promise.all(Array.from({ length: 50 }, () => post({ text: "wait" }, "race")));
    for (const answer of meanwhile) {
      expect([answer.status, answer.body.code, answer.headers["retry-after"]]).toEqual([
        409,
        "idempotency_in_progress",
        "1",
      ]);
    }
    open();
    const winner = await first;
    expect(winner.status).toBe(201);
    const later = await Promise.all(Array.from({ length: 50 }, () => post({ text: "wait" }, "race")));
    for (const answer of later) expect([201, 409]).toContain(answer.status);
    const last = await post({ text: "wait" }, "race");
    expect([last.text, last.headers["idempotency-replayed"]]).toEqual([winner.text, "true"]);
    expect(await countOf("wait")).toBe(1);
  });

  it("has exactly one row after 100 calls at the same moment", async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => post({ text: "stampede" }, "stampede")));
    const winners = answers.filter(
      ({ status, headers }) => status === 201 && headers["idempotency-replayed"] === undefined,
    );
    expect(winners).toHaveLength(1);
    for (const answer of answers) expect([201, 409]).toContain(answer.status);
    expect(await countOf("stampede")).toBe(1);
  });

  it("is ignored on calls that create nothing", async () => {
    const answer = await api.call("GET", "/api/v1/protocols/", {
      token: integration.token,
      headers: { "idempotency-key": "é" },
    });
    expect(answer.status).toBe(200);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newUuid } from "../../src/lib/ids.ts";
import { eventTypes } from "../../src/resources/events/event-types.ts";
import { baseUrl, type TestApi } from "../support/api.ts";
import { makeEvent } from "../support/events.ts";
import { deleteDevice, makeDevice, nobodysId, type TestDevice } from "../support/fixtures.ts";
import { makeIntegration, makeOrganization, openPartnerApi, type TestOrganization } from "../support/world.ts";

describe("the list of events", () => {
  let api: TestApi;
  let organization: TestOrganization;
  let token: string;
  let watch: TestDevice;
  let former: TestDevice;
  const home = newUuid();
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    ({ api, organization, token } = await openPartnerApi());
    watch = await makeDevice(api, organization);
    former = await makeDevice(api, organization);
    const at = (minute: number) => `2026-03-01T08:0${minute}:00.000Z`;
    ids.sos = await makeEvent(api, watch, { ts: at(1) });
    ids.fall = await makeEvent(api, former, { type: 20, title: "Fall detected", ts: at(2) });
    ids.exit = await makeEvent(api, watch, {
      type: 90,
      severity: 20,
      title: "Left CAFÉ 100%",
      fenceId: home,
      ts: at(3),
    });
    ids.online = await makeEvent(api, former, { type: 60, severity: 10, title: "Online", ts: at(4) });
    await api.call("POST", `/api/v1/events/${ids.fall}/acknowledge/`, { token });
    await deleteDevice(api, former);
  });
  afterAll(() => api.close());

  const get = (query: string) => api.call("GET", `/api/v1/events/?${query}`, { token });
  /** The names of the events that a query finds, in its order. */
  async function found(query: string): Promise<string[]> {
    const { status, body } = await get(query);
    expect(status).toBe(200);
    return body.results.map(({ id }: { id: string }) => Object.keys(ids).find((name) => ids[name] === id));
  }

  it("is newest first, without a count, deleted devices included", async () => {
    expect(await found("")).toEqual(["online", "exit", "fall", "sos"]);
    const { body } = await get("");
    expect(Object.keys(body).toSorted()).toEqual(["next", "previous", "results"]);
    expect([body.next, body.previous]).toEqual([null, null]);
  });

  it.each([
    ["ordering=ts", true],
    ["ordering=-ts", false],
    ["order=asc", true],
    ["order=desc", false],
    ["ordering=ts&order=desc", true],
  ])("sorts by %s", async (query, ascending) => {
    const names = ["sos", "fall", "exit", "online"];
    expect(await found(query)).toEqual(ascending ? names : names.toReversed());
  });

  it.each([
    ["acknowledged=true", ["fall"]],
    ["acknowledged=0", ["online", "exit", "sos"]],
    ["event_type=sos", ["sos"]],
    ["event_type=10", ["sos"]],
    ["event_type=sos, 90,geofence_dwell", ["exit", "sos"]],
    ["event_type=tamper", []],
    ["severity=critical", ["fall", "sos"]],
    ["severity=10,warning", ["online", "exit"]],
    ["severity=critical&acknowledged=false", ["sos"]],
    ["ts_after=2026-03-01T08:03:00Z", ["online", "exit"]],
    ["ts_before=2026-03-01T08:03:00Z", ["fall", "sos"]],
    ["ts_after=2026-03-01T09:02:00%2B01:00&ts_before=2026-03-01T08:03:00.001", ["exit", "fall"]],
    ["ts_after=2026-03-02", []],
    ["search=left", ["exit"]],
    ["search=caf%C3%A9", ["exit"]],
    ["search=%25", ["exit"]],
    ["search=_", []],
    ["search=on", ["online"]],
    ["search=%20", ["online", "exit", "fall", "sos"]],
    ["search=nothing+such", []],
    ["device_uid=123", []],
    ["device_uid=abcdefghijklmno", []],
    ["device_uid=000000000000000", []],
    ["fence_id=home", []],
    [`fence_id=${nobodysId}`, []],
    [`device=${nobodysId}`, []],
    ["limit=x&colour=red&event_type=", ["online", "exit", "fall", "sos"]],
  ])("filters by %s", async (query, names) => {
    expect(await found(query)).toEqual(names);
  });

  it("filters by device, live or deleted, and by fence", async () => {
    expect(await found(`device=${watch.id}`)).toEqual(["exit", "sos"]);
    expect(await found(`device=${watch.id.toUpperCase()}`)).toEqual(["exit", "sos"]);
    expect(await found(`device_uid=${watch.uid}`)).toEqual(["exit", "sos"]);
    expect(await found(`device_uid=${former.uid}`)).toEqual(["online", "fall"]);
    expect(await found(`device=${watch.id}&device_uid=${former.uid}`)).toEqual([]);
    expect(await found(`fence_id=${home.toUpperCase()}`)).toEqual(["exit"]);
    expect(await found(`search=${watch.uid.slice(3)}`)).toEqual(["exit", "sos"]);
    expect(await found(`search=${former.uid}&event_type=fall`)).toEqual(["fall"]);
  });

  it("follows an IMEI to the organization that has it now, and leaves the history with the other", async () => {
    const other = await makeOrganization(api);
    const { token: theirs } = await makeIntegration(api, other);
    const body = { uid: former.uid, device_model_slug: "iw-h10" };
    const { id } = (await api.call("POST", "/api/v1/devices/", { token: theirs, body })).body;
    const made = await makeEvent(api, { ...former, id });
    const { results } = (await api.call("GET", `/api/v1/events/?device_uid=${former.uid}`, { token: theirs })).body;
    expect(results.map((event: { id: string }) => event.id)).toEqual([made]);
    expect(await found(`device_uid=${former.uid}`)).toEqual(["online", "fall"]);
  });

  it.each([
    ["acknowledged=maybe", ["acknowledged"]],
    ["device=490154203237518", ["device"]],
    ["event_type=earthquake", ["event_type"]],
    ["event_type=SOS", ["event_type"]],
    ["event_type=sos,11", ["event_type"]],
    ["event_type=1e1", ["event_type"]],
    ["severity=high", ["severity"]],
    ["severity=0", ["severity"]],
    ["ts_after=yesterday", ["ts_after"]],
    ["ts_before=2026-02-30", ["ts_before"]],
    ["ordering=severity", ["ordering"]],
    ["order=up", ["order"]],
    ["page_size=0", ["page_size"]],
    ["severity=high&event_type=x", ["event_type", "severity"]],
  ])("refuses %s", async (query, fields) => {
    const { status, body } = await get(query);
    expect([status, body.code]).toEqual([400, "validation_error"]);
    expect(Object.keys(body.errors).toSorted()).toEqual(fields);
  });

  it.each(Object.entries(eventTypes))("shows and finds type %s", async (name, { number, severity }) => {
    const device = await makeDevice(api, organization);
    const severityNumber = { info: 10, warning: 20, critical: 30 }[severity ?? "warning"];
    const id = await makeEvent(api, device, { type: number, severity: severityNumber });
    for (const value of [name, number]) {
      const { body } = await get(`device=${device.id}&event_type=${value}`);
      expect(body.results).toMatchObject([{ id, event_type: name, severity: severity ?? "warning" }]);
    }
    await api.call("DELETE", `/api/v1/events/${id}/`, { token });
  });

  describe("by cursor", () => {
    const count = 45;
    let device: TestDevice;

    beforeAll(async () => {
      device = await makeDevice(api, organization);
      // Several events share a time: the id decides between them.
      for (let index = 0; index < count; index++) {
        const ts = new Date(Date.UTC(2026, 3, 1) + Math.floor(index / 4) * 1000).toISOString();
        await makeEvent(api, device, { type: index % 2 === 0 ? 10 : 20, ts });
      }
    });

    async function walk(query: string, direction: "next" | "previous" = "next"): Promise<string[][]> {
      const pages: string[][] = [];
      let path: string | null = query.startsWith("/") ? query : `/api/v1/events/?device=${device.id}&${query}`;
      while (path !== null) {
        const { status, body } = await api.call("GET", path, { token });
        expect(status).toBe(200);
        pages.push(body.results.map(({ id }: { id: string }) => id));
        const link: string | null = body[direction];
        if (link !== null) expect(link.startsWith(`${baseUrl}/api/v1/events/?`)).toBe(true);
        path = link?.slice(baseUrl.length) ?? null;
      }
      return pages;
    }

    it("shows every event once, in one order, whatever the page size", async () => {
      const all = (await walk("page_size=500")).flat();
      expect(new Set(all).size).toBe(count);
      for (const size of [1, 7, 44, 45]) expect((await walk(`page_size=${size}`)).flat()).toEqual(all);
      expect((await walk("page_size=4&order=asc")).flat()).toEqual(all.toReversed());
    });

    it("keeps its filters, and goes back by previous", async () => {
      const query = "page_size=5&event_type=sos&search=sos";
      const pages = await walk(query);
      expect(pages.flat()).toHaveLength(23);
      let last = await get(`device=${device.id}&${query}`);
      while (last.body.next !== null) {
        last = await api.call("GET", last.body.next.slice(baseUrl.length), { token });
      }
      const back = await walk(last.body.previous.slice(baseUrl.length), "previous");
      expect(back.toReversed()).toEqual(pages.slice(0, -1));
    });

    it("is not shifted by events that come, are acknowledged or are deleted meanwhile", async () => {
      const all = (await walk("page_size=500")).flat();
      const first = (await get(`device=${device.id}&page_size=10`)).body;
      const fresh = await makeEvent(api, device, { ts: "2026-04-02T00:00:00.000Z" });
      await api.call("POST", `/api/v1/events/${all[12]}/acknowledge/`, { token });
      await api.call("DELETE", `/api/v1/events/${all[9]}/`, { token });
      const rest = await walk(first.next.slice(baseUrl.length));
      expect(rest.flat()).toEqual(all.slice(10));
      await api.call("DELETE", `/api/v1/events/${fresh}/`, { token });
    });

    it("refuses a broken cursor, and one of another ordering", async () => {
      const { body } = await get(`device=${device.id}&page_size=3`);
      const cursor = new URL(body.next).searchParams.get("cursor");
      for (const query of ["cursor=abc", `cursor=${cursor}&order=asc`]) {
        const answer = await get(query);
        expect([query, answer.status, answer.body.code]).toEqual([query, 400, "invalid_cursor"]);
      }
      const forged = Buffer.from(JSON.stringify(["-ts", 1, "x", newUuid()])).toString("base64url");
      expect((await get(`cursor=${forged}`)).body.code).toBe("invalid_cursor");
    });

    it("begins at the first page when the cursor is empty", async () => {
      const query = `device=${device.id}&page_size=3`;
      const [empty, without] = [await get(`${query}&cursor=`), await get(query)];
      expect([empty.status, empty.body.results]).toEqual([200, without.body.results]);
    });
  });
});

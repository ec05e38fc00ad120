import { expect, it } from "vitest";
import { openTestApi } from "../support/api.ts";
import { signIn } from "../support/browser-session.ts";
import { imeis } from "../support/devices.ts";
import { makeOrganization, makePerson } from "../support/world.ts";

it("takes 10,000 lines and no more, with terminal ids of their own", async () => {
  const api = await openTestApi({ isPrivate: true });
  try {
    const organization = await makeOrganization(api);
    const admin = await signIn(api, (await makePerson(api, organization, "ADMIN")).email);
    const next = imeis(490_154_209_000_000);
    const send = (lines: readonly string[], query = "") =>
      admin.send("POST", `/console/api/devices/import/${query}`, ["uid,device_model_slug", ...lines].join("\n"), {
        "content-type": "text/csv",
      });
    // The default terminal id leaves out the last digit.
    const lines = Array.from({ length: 10_000 }, (_, n) => `${490_154_300_000_000 + n * 10},watch-generic`);
    const bad = lines.with(17, "1,iw-h10").with(500, ",iw-h10").with(9_999, `${next()},none`);
    const refused = await send(bad);
    expect([refused.status, refused.body.errors.map(({ line }: { line: number }) => line)]).toEqual([
      400,
      [19, 502, 10_001],
    ]);
    expect((await send(lines)).body).toEqual({ created: 10_000, updated: 0, errors: [] });
    expect((await send(lines.map((line) => `${line},`))).status).toBe(400);
    const { count } = await api.db.one<{
      count: number;
    }>`select count(*) as count from devices where deleted_at is null`;
    expect(count).toBe(10_000);
    expect((await send(lines)).body).toEqual({ created: 0, updated: 10_000, errors: [] });
    const more = await send([...lines, `${next()},iw-h10`], "?dry_run=true");
    expect(more.body.errors).toEqual([expect.objectContaining({ line: 10_002 })]);
  } finally {
    await api.close();
  }
}, 180_000);

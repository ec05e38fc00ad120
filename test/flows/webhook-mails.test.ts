import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { queueWebhookMails } from "../../src/console/webhook-mails.ts";
import { makeManualClock } from "../../src/lib/clock.ts";
import { newUuid, uuidV7 } from "../../src/lib/ids.ts";
import { renderMail } from "../../src/mail/mail-templates.ts";
import { mailLanguages } from "../../src/mail/mail-texts.ts";
import { noteOutcomes } from "../../src/outbound/trouble-store.ts";
import { createIntegration, updateIntegration } from "../../src/resources/organizations/integration-store.ts";
import { ensureMember } from "../../src/resources/users/member-store.ts";
import { cliActor } from "../support/api.ts";
import { integrationSettings } from "../support/integration-settings.ts";
import { type MailWorld, openMailWorld, start } from "../support/mail-world.ts";
import { testSecrets } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const minuteMs = 60_000;

describe("mails about a webhook that fails", () => {
  let world: MailWorld;
  const clock = makeManualClock(start);

  beforeAll(async () => {
    world = await openMailWorld();
    for (const [email, role] of [
      ["owner@example.org", "OWNER"],
      ["admin@example.org", "ADMIN"],
      ["user@example.org", "USER"],
    ] as const) {
      const profile = { email, firstName: "Ada", lastName: "Example", phoneNumber: "", role };
      await world.db.transaction((tx) =>
        ensureMember(tx, world.organizationId, profile, cliActor(world.organizationId), start),
      );
    }
    await world.db.run`update users set locale = 'de' where email = 'admin@example.org'`;
  });
  afterEach(async () => {
    await world.reset();
    await world.db.run`delete from webhook_troubles`;
    clock.set(start);
  });
  afterAll(() => world.close());

  async function makeHook(): Promise<string> {
    const { integration } = await world.db.transaction((tx) =>
      createIntegration(
        tx,
        world.organizationId,
        integrationSettings({ name: "Ward board", webhookUrl: "https://hooks.example.org/s3cret-path?token=abc" }),
        cliActor(world.organizationId),
        start,
        testSecrets,
      ),
    );
    return integration.id;
  }

  /** An attempt that ended now. */
  const attempt = (integrationId: string, error: string | null): Promise<void> =>
    world.db.transaction(async (tx) => {
      const { organizationId } = world;
      await tx.run`
        insert into delivery_attempts (integration_id, id, organization_id, event_id, attempt, started_at, duration_ms, error)
        values (${integrationId}, ${uuidV7(clock.nowMs())}, ${organizationId}, ${newUuid()}, 1, ${clock.now()}, 1, ${error})`;
      await noteOutcomes(tx, [{ integrationId, organizationId, startedAtMs: clock.nowMs(), error }]);
    });

  const queue = (): Promise<number> => queueWebhookMails(world.db, clock, () => "https://vigil.example");

  it("go to administrators after an hour and once more at the recovery, once each, in their language", async () => {
    const sink = await world.openSink();
    await world.openSender({ clock, smtpUrl: sink.url });
    const id = await makeHook();
    await attempt(id, "HTTP 500");
    clock.advanceMs(59 * minuteMs);
    await attempt(id, "connection refused (ECONNREFUSED)");
    expect(await queue()).toBe(0);
    clock.advanceMs(minuteMs);
    expect(await queue()).toBe(2);
    // Accepted by the server is not yet noted as sent, and a sender that loses its lease meanwhile sends again.
    await until(async () => expect(await world.countWith("sent", 1)).toBe(2));
    expect(sink.raw).toHaveLength(2);
    clock.advanceMs(300 * minuteMs);
    await attempt(id, "HTTP 500");
    expect(await queue()).toBe(0);

    const mails = await sink.mails();
    const german = mails.find(({ to }) => to?.[0]?.address === "admin@example.org");
    const italian = mails.find(({ to }) => to?.[0]?.address === "owner@example.org");
    expect(german?.subject).toBe("Webhook gestört – Ward board – Cura è Più");
    expect(german?.text).toContain("Letzter Fehler: connection refused (ECONNREFUSED).");
    expect(german?.text).toContain(`https://vigil.example/console/integrations/${id}`);
    expect(italian?.text).toContain("«Ward board» (hooks.example.org)");
    for (const { text, html } of mails) expect(`${text}${html}`).not.toMatch(/s3cret-path|token=abc/);

    await attempt(id, null);
    expect(await queue()).toBe(2);
    expect(await queue()).toBe(0);
    await until(() => expect(sink.raw).toHaveLength(4));
    const subjects = (await sink.mails()).map(({ subject }) => subject);
    expect(subjects).toContain("Webhook funktioniert wieder – Ward board – Cura è Più");
    await attempt(id, null);
    expect(await queue()).toBe(0);
  });

  it("do not go out when it recovered within the hour", async () => {
    const id = await makeHook();
    await attempt(id, "HTTP 500");
    clock.advanceMs(30 * minuteMs);
    await attempt(id, null);
    await attempt(id, "HTTP 500");
    clock.advanceMs(40 * minuteMs);
    expect(await queue()).toBe(0);
    clock.advanceMs(20 * minuteMs);
    expect(await queue()).toBe(2);
  });

  it("are queued once by workers that run at the same time", async () => {
    const id = await makeHook();
    await attempt(id, "HTTP 500");
    clock.advanceMs(60 * minuteMs);
    const counts = await Promise.all([queue(), queue(), queue()]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
    expect(await world.countWith("queued")).toBe(2);
  });

  it("give a changed address an hour of its own, and end with the webhook", async () => {
    const id = await makeHook();
    const change = (webhookUrl: string | null) =>
      world.db.transaction((tx) =>
        updateIntegration(
          tx,
          world.organizationId,
          id,
          { webhookUrl },
          cliActor(world.organizationId),
          clock.now(),
          testSecrets,
        ),
      );
    await attempt(id, "HTTP 500");
    clock.advanceMs(50 * minuteMs);
    await change("https://other.example.org/hook");
    await attempt(id, "HTTP 500");
    clock.advanceMs(20 * minuteMs);
    expect(await queue()).toBe(0);
    clock.advanceMs(40 * minuteMs);
    expect(await queue()).toBe(2);
    // Mended by another address: the mail about the recovery follows.
    await change("https://third.example.org/hook");
    await attempt(id, null);
    expect(await queue()).toBe(2);
    await attempt(id, "HTTP 500");
    clock.advanceMs(90 * minuteMs);
    await change(null);
    expect(await queue()).toBe(0);
  });

  it("have a subject, a reason and a link in every language", () => {
    const params = {
      organization_name: "Care Co",
      integration_name: "Board",
      webhook_host: "hooks.example.org",
      happened_at: start.toISOString(),
      reason: "HTTP 500",
      link: "https://vigil.example/console/integrations/1",
    };
    const subjects = mailLanguages.flatMap((language) =>
      (["webhook_failing", "webhook_recovered"] as const).map((kind) => {
        const mail = renderMail(kind, language, params);
        expect(mail.text).toContain("hooks.example.org");
        expect(mail.text.includes("HTTP 500")).toBe(kind === "webhook_failing");
        return mail.subject;
      }),
    );
    expect(new Set(subjects).size).toBe(10);
  });
});

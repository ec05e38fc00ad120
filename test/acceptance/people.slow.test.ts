import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import PostalMime from "postal-mime";
import { SMTPServer } from "smtp-server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { browserPath, openBrowser, openPage } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Credentials, fetchTokenOf, type RunningVigil, startVigil, vigilJson } from "../support/vigil-process.ts";

interface Sink {
  mails: { to: string; subject: string; text: string; link: URL }[];
  port: number;
  close(): Promise<void>;
}

async function openSink(port = 0): Promise<Sink> {
  const mails: Sink["mails"] = [];
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 500,
    disabledCommands: ["AUTH", "STARTTLS"],
    onData: (stream, session, done) => {
      buffer(stream)
        .then((bytes) => PostalMime.parse(bytes))
        .then((mail) => {
          const text = mail.text ?? "";
          const link = new URL(/https?:\/\/\S+/.exec(text)?.[0] as string);
          mails.push({ to: session.envelope.rcptTo[0]?.address ?? "", subject: mail.subject ?? "", text, link });
        })
        .then(() => done(), done);
    },
  });
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  return {
    mails,
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe("provisioning a fleet and its people, from outside", { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let sink: Sink;
  let service: RunningVigil;
  let token: string;
  const env = () => ({ DATABASE_URL: database.url, VIGIL_SMTP_URL: `smtp://127.0.0.1:${sink.port}` });
  const uid = "490154203237518";

  beforeAll(async () => {
    database = await createTestDatabase();
    sink = await openSink();
    service = await startVigil([], env());
    await vigilJson(["org", "create", "--name", "Care Co", "--locale", "it", "--feature", "managed_onboarding"], env());
    const credentials = await vigilJson<Credentials>(
      ["integration", "create", "--org", "care-co", "--name", "App"],
      env(),
    );
    token = await fetchTokenOf(service.http, credentials);
    const made = await api("POST", "/devices/", { uid, device_model_slug: "iw-h10", name: "Nonna" });
    expect(made.status).toBe(201);
  });
  afterAll(async () => {
    await service?.kill("SIGKILL");
    await sink?.close();
    await database?.drop();
  });

  async function api(method: string, path: string, body?: unknown) {
    const answer = await fetch(`${service.http}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely
    return { status: answer.status, body: (await answer.json().catch(() => undefined)) as any };
  }
  const password = "una frase molto lunga";
  const logIn = (email: string) =>
    fetch(`${service.http}/console/api/login/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
  const mailTo = (email: string) =>
    vi.waitFor(() => sink.mails.find(({ to }) => to === email) ?? Promise.reject(new Error("no mail yet")), {
      timeout: 60_000,
    });

  it("mails a share to an unknown address; the token in it works once", async () => {
    const shared = await api("POST", `/devices/${uid}/share/`, { email: "Carla@Example.org", first_name: "Carla" });
    expect([shared.status, shared.body.result]).toEqual([202, "invited"]);
    expect(JSON.stringify(shared.body)).not.toMatch(/token|metadata/);
    const mail = await mailTo("carla@example.org");
    expect(mail.link.href.startsWith(`${service.http}/console/accept?token=`)).toBe(true);
    const secret = mail.link.searchParams.get("token");
    await vi.waitFor(
      async () => {
        const { body } = await api("GET", `/organizations/invitations/${shared.body.invitation.id}/`);
        expect(body.email_status).toBe("sent");
      },
      { timeout: 10_000, interval: 20 },
    );
    const accepted = await Promise.all(
      [1, 2].map(() => api("POST", "/organizations/invitations/server-accept/", { token: secret })),
    );
    expect(accepted.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const users = await api("GET", "/auth/users/?search=carla");
    expect(users.body.results).toMatchObject([
      { email: "carla@example.org", role: "VIEWER", portal_active: false, first_name: "Carla" },
    ]);
    const { results } = (await api("GET", "/assignments/")).body;
    expect(results).toMatchObject([{ role: "viewer", source: "invitation", device_uid: uid }]);
  });

  it("loses no mail while the SMTP server and then the service itself are down", async () => {
    const { port } = sink;
    await sink.close();
    for (const name of ["dora", "emma", "fina"]) {
      expect((await api("POST", `/devices/${uid}/share/`, { email: `${name}@example.org` })).status).toBe(202);
    }
    await service.kill("SIGKILL");
    sink = await openSink(port);
    // Half an hour later by the service's clock: every wait between two attempts is over.
    service = await startVigil([], { ...env(), VIGIL_CLOCK_OFFSET_SECONDS: "1800" });
    for (const name of ["dora", "emma", "fina"]) await mailTo(`${name}@example.org`);
    expect(sink.mails.filter(({ to }) => to === "dora@example.org")).toHaveLength(1);
  });

  it.skipIf(!browserPath)(
    "lets a person set a password in the browser and log in (skipped where no Chromium is installed)",
    async () => {
      const made = await api("POST", "/auth/users/", {
        email: "gina@example.org",
        first_name: "Gina",
        last_name: "Rossi",
      });
      expect([made.status, made.body.portal_active]).toEqual([201, false]);
      expect((await api("POST", `/auth/users/${made.body.id}/invite/`)).status).toBe(202);
      const again = await api("POST", `/auth/users/${made.body.id}/invite/`);
      expect([again.status, again.body.code]).toEqual([429, "invite_rate_limited"]);
      const { link } = await mailTo("gina@example.org");
      const browser = await openBrowser();
      try {
        const { page, outside } = await openPage(browser, service.http);
        await page.goto(link.href);
        const passwords = page.locator('input[type="password"]');
        await passwords.first().waitFor();
        for (const field of await passwords.all()) await field.fill(password);
        if (process.env.VIGIL_SCREENSHOTS)
          await page.screenshot({ path: `${process.env.VIGIL_SCREENSHOTS}/activate.png` });
        await page.locator('button[type="submit"]').click();
        await vi.waitFor(
          async () => {
            expect((await api("GET", `/auth/users/${made.body.id}/`)).body.portal_active).toBe(true);
          },
          { timeout: 60_000 },
        );
        if (process.env.VIGIL_SCREENSHOTS)
          await page.screenshot({ path: `${process.env.VIGIL_SCREENSHOTS}/activated.png` });
        expect(outside).toEqual([]);
      } finally {
        await browser.close();
      }
      const session = await logIn("gina@example.org");
      expect(session.status).toBe(200);
      expect((await api("POST", `/auth/users/${made.body.id}/invite/`)).body).toMatchObject({ already_active: true });
    },
  );

  it.skipIf(!browserPath)(
    "lets an invited person accept in the browser, once (skipped where no Chromium is installed)",
    async () => {
      const shared = await api("POST", `/devices/${uid}/share/`, { email: "hanna@example.org", first_name: "Hanna" });
      expect(shared.status).toBe(202);
      const { link } = await mailTo("hanna@example.org");
      const status = async () =>
        (await api("GET", `/organizations/invitations/${shared.body.invitation.id}/`)).body.status;
      const browser = await openBrowser();
      try {
        const { page, outside } = await openPage(browser, service.http);
        const problems: string[] = [];
        page.on("pageerror", (error) => problems.push(error.message));
        await page.goto(link.href);
        const field = (label: string) => page.getByLabel(label, { exact: true });
        const heading = (text: string) => page.getByRole("heading", { name: text });
        expect(await page.locator('input[type="email"]').inputValue()).toBe("hanna@example.org");
        expect(await field("Nome").inputValue()).toBe("Hanna");
        await page.locator('input[type="password"]').fill("corta");
        await page.locator('button[type="submit"]').click();
        await page.getByRole("alert").filter({ hasText: "8 caratteri" }).waitFor();
        expect(await status()).toBe(10);
        await field("Cognome").fill("Verdi");
        await page.locator('input[type="password"]').fill(password);
        if (process.env.VIGIL_SCREENSHOTS)
          await page.screenshot({ path: `${process.env.VIGIL_SCREENSHOTS}/accept.png` });
        await page.locator('button[type="submit"]').click();
        await heading("Invito accettato").waitFor();
        expect(await page.locator("form").count()).toBe(0);
        expect(await status()).toBe(20);
        await page.goto(link.href);
        await heading("non è valido").waitFor();
        expect(await page.locator("input").count()).toBe(0);
        expect({ outside, problems }).toEqual({ outside: [], problems: [] });
      } finally {
        await browser.close();
      }
      const session = await logIn("hanna@example.org");
      expect(session.status).toBe(200);
      const { access_token } = (await session.json()) as { access_token: string };
      const seen = await fetch(`${service.http}/api/v1/devices/`, {
        headers: { authorization: `Bearer ${access_token}` },
      });
      expect(((await seen.json()) as { results: { uid: string }[] }).results.map((device) => device.uid)).toEqual([
        uid,
      ]);
    },
  );
});

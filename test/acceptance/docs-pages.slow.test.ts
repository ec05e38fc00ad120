import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserPath, openBrowser } from "../support/browser.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { type Credentials, makeCredentials, type RunningVigil, startVigil } from "../support/vigil-process.ts";

describe.skipIf(!browserPath)(
  "the documentation pages in a browser (skipped where no Chromium is installed)",
  { timeout: 120_000 },
  () => {
    let database: TestDatabase;
    let service: RunningVigil;
    let credentials: Credentials;
    let browser: Browser;

    beforeAll(async () => {
      database = await createTestDatabase();
      const env = { DATABASE_URL: database.url };
      service = await startVigil([], env);
      credentials = await makeCredentials([], env);
      browser = await openBrowser();
    });
    afterAll(async () => {
      await browser?.close();
      await service?.kill("SIGKILL");
      await database?.drop();
    });

    async function open(path: string): Promise<{ page: Page; outside: string[]; problems: string[] }> {
      const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } });
      page.setDefaultTimeout(60_000);
      const outside: string[] = [];
      const problems: string[] = [];
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(service.http) && !/^(data|blob):/.test(url)) outside.push(url);
      });
      page.on("pageerror", (error) => problems.push(error.message));
      await page.goto(service.http + path);
      return { page, outside, problems };
    }

    it("Swagger UI authorizes with client credentials and tries a call, with no request leaving the host", async () => {
      const { page, outside, problems } = await open("/api/schema/swagger/");
      await page.getByRole("button", { name: "Authorize" }).first().click();
      const dialog = page.locator(".modal-ux");
      await dialog.locator("#client_id_clientCredentials, #client_id").first().fill(credentials.client_id);
      await dialog.locator("#client_secret_clientCredentials, #client_secret").first().fill(credentials.client_secret);
      await dialog.getByRole("button", { name: "Apply given OAuth2 credentials" }).click();
      await dialog.getByText("Logout").waitFor();
      await dialog.locator("button.btn-done").first().click();

      const operation = page.locator("#operations-Organization-organizations_self_retrieve");
      await operation.locator(".opblock-summary").first().click();
      await operation.getByRole("button", { name: "Try it out" }).click();
      await operation.getByRole("button", { name: "Execute" }).click();
      const answer = operation.locator(".live-responses-table .response");
      await answer.waitFor();
      expect(await answer.locator(".response-col_status").innerText()).toContain("200");
      expect(await answer.innerText()).toContain("integration_status");
      expect(outside).toEqual([]);
      expect(problems).toEqual([]);
      if (process.env.VIGIL_SCREENSHOTS)
        await page.screenshot({ path: `${process.env.VIGIL_SCREENSHOTS}/swagger.png` });
      await page.close();
    });

    it("ReDoc shows the whole reference, with no request leaving the host", async () => {
      const { page, outside, problems } = await open("/api/schema/redoc/");
      await page.getByRole("heading", { name: "Vigil partner API" }).first().waitFor();
      await page.getByRole("heading", { name: "Device protocols" }).waitFor();
      expect(outside).toEqual([]);
      expect(problems).toEqual([]);
      if (process.env.VIGIL_SCREENSHOTS) await page.screenshot({ path: `${process.env.VIGIL_SCREENSHOTS}/redoc.png` });
      await page.close();
    });
  },
);

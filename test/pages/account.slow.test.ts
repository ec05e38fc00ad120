import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { codeAt, stepAt } from "../../src/oauth/totp.ts";
import { browserPath } from "../support/browser.ts";
import {
  type ConsolePage,
  type ConsoleWorld,
  consolePassword,
  emailOf,
  openConsoleWorld,
  signIn,
} from "../support/console-world.ts";
import { vigilJson } from "../support/vigil-process.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The bytes of a secret as an authenticator app reads it. */
function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

describe.skipIf(!browserPath)("the account of a person (skipped where no Chromium is installed)", () => {
  let world: ConsoleWorld;
  let opened: ConsolePage;

  beforeAll(async () => {
    world = await openConsoleWorld(["OWNER", "USER"]);
    await vigilJson(["org", "create", "--name", "Other House", "--slug", "other-house"], world.env);
    await world.addMember("VIEWER", emailOf("USER"), "other-house");
    opened = await world.openAs("OWNER", "/console/account");
  });
  afterAll(() => world?.close());

  it("keeps language, time zone and alarm mails", async () => {
    const { page } = opened;
    await page.getByLabel("E-mails on alarms").selectOption("Critical alarms");
    await page.getByLabel("Time zone").fill("Mars/Olympus");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("This is not an IANA time zone.").waitFor();
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.reload();
    expect(await page.getByLabel("Time zone").inputValue()).toBe("Asia/Tokyo");
    expect(await page.getByLabel("E-mails on alarms").inputValue()).toBe("critical");
    await page.getByLabel("Language").selectOption("Deutsch");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Konto", level: 1 }).waitFor();
    await page.getByLabel("Sprache").selectOption("English");
    await page.getByRole("button", { name: "Speichern" }).click();
    await page.getByRole("heading", { name: "Account", level: 1 }).waitFor();
  });

  it("shows the own sessions and ends another one", async () => {
    const other = await world.openAs("OWNER", "/console/account", { userAgent: "Mozilla/5.0 (iPad) Safari/604.1" });
    await opened.page.reload();
    await opened.page.getByText("This session").waitFor();
    await opened.page.getByRole("button", { name: "End the session of Safari, iPad" }).click();
    await opened.page.getByText("Safari, iPad").waitFor({ state: "detached" });
    await other.page.reload();
    await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.close();
  });

  it("changes the password and ends all other sessions", async () => {
    const other = await world.openAs("OWNER", "/console/account");
    const { page } = opened;
    await page.getByLabel("Current password").fill("not my password");
    await page.getByLabel("New password").fill("a longer sentence");
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("The password is wrong.").waitFor();
    await page.getByLabel("Current password").fill(consolePassword);
    await page.getByRole("button", { name: "Change password" }).click();
    await page.getByText("The password is changed.").waitFor();
    await other.page.reload();
    await other.page.getByRole("heading", { name: "Sign in" }).waitFor();
    await signIn(other.page, emailOf("OWNER"), "a longer sentence");
    await other.close();
  });

  it("sets up a second factor, asks for it, and takes a recovery code to switch it off", async () => {
    const { page } = opened;
    await page.getByRole("button", { name: "Set up a second factor" }).click();
    await page.getByLabel("Your password").fill("a longer sentence");
    await page.getByRole("button", { name: "Next" }).click();
    const link = await page.getByRole("link", { name: "Open in the authenticator app" }).getAttribute("href");
    const shown = (await page.locator("code").innerText()).replaceAll(" ", "");
    expect(new URL(link ?? "").searchParams.get("secret")).toBe(shown);
    const secret = fromBase32(shown);
    await page.getByLabel("Code of the app").fill("000000");
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("The code is wrong.").waitFor();
    await page.getByLabel("Code of the app").fill(codeAt(secret, stepAt(Date.now())));
    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByRole("button", { name: "I have kept them" }).waitFor();
    const codes = await page.getByRole("list", { name: "Recovery codes" }).getByRole("listitem").allInnerTexts();
    expect(codes.length).toBeGreaterThanOrEqual(8);
    await page.getByRole("button", { name: "I have kept them" }).click();
    await page.getByText(`Unused recovery codes: ${codes.length}`).waitFor();

    const other = await world.open();
    await other.page.goto(`${world.http}/console/account`);
    await other.page.getByLabel("E-mail").fill(emailOf("OWNER"));
    await other.page.getByLabel("Password").fill("a longer sentence");
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByLabel("Code").fill(codes[0] as string);
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByText(`Unused recovery codes: ${codes.length - 1}`).waitFor();
    await other.page.getByRole("button", { name: "Switch off" }).click();
    await other.page.getByLabel("Your password").fill("a longer sentence");
    await other.page.getByLabel("Code of the app, or a recovery code").fill(codes[1] as string);
    await other.page.getByRole("button", { name: "Switch off" }).click();
    await other.page.getByRole("button", { name: "Set up a second factor" }).waitFor();
    await other.close();
  });

  it("asks a member of two organizations where to go, and lets them switch", async () => {
    const { page, close } = await world.open();
    await page.goto(`${world.http}/console/account`);
    await page.getByLabel("E-mail").fill(emailOf("USER"));
    await page.getByLabel("Password").fill(consolePassword);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByLabel("Organization").fill("other-house");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Other House · Viewer").waitFor();
    await page.getByLabel("Organization").selectOption("Care Co");
    await page.getByRole("button", { name: "Switch" }).click();
    await page.getByText("Care Co · User").waitFor();
    await page.reload();
    await page.getByText("Care Co · User").waitFor();
    await close();
  });

  it("throws no error and asks nobody else on the way", () => {
    expect([opened.errors, opened.outside]).toEqual([[], []]);
  });
});

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** What the page shows to partners must verify what the page shows as a request. */
const page = readFileSync(resolve(import.meta.dirname, "../../docs/partners/webhooks.md"), "utf8");
const block = (language: string): string => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? "";
const [head = "", body = ""] = block("http").trimEnd().split("\n\n");
const headers = Object.fromEntries(
  head
    .split("\n")
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
);
const secret = /`(whsec_[^`]{10,})`/.exec(page)?.[1] ?? "";
const moved = { "x-signature": "sha256=00", "x-signature-previous": headers["x-signature"] as string };

function runs(command: string): boolean {
  try {
    execFileSync(command, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the snippets of the webhook page", () => {
  it("verify in Node", async () => {
    const { verify } = await import(`data:text/javascript,${encodeURIComponent(block("js"))}`);
    expect(verify(secret, Buffer.from(body), headers)).toBe(true);
    expect(verify(secret, Buffer.from(body), moved)).toBe(true);
    expect(verify(secret, Buffer.from(`${body} `), headers)).toBe(false);
    expect(verify("whsec_x", Buffer.from(body), headers)).toBe(false);
    expect(verify(secret, Buffer.from(body), {})).toBe(false);
  });

  it.skipIf(!runs("python3"))("verify in Python", () => {
    const script = `${block("python")}
import json, sys
secret, body, headers, moved = json.load(sys.stdin)
raw = body.encode()
odd = {"x-signature": "sha256=\\u00e9"}
print([verify(secret, raw, headers), verify(secret, raw, moved)])
print([verify(secret, raw + b" ", headers), verify(secret, raw, {}), verify(secret, raw, odd)])`;
    const input = JSON.stringify([secret, body, headers, moved]);
    expect(execFileSync("python3", ["-c", script], { input }).toString()).toBe("[True, True]\n[False, False, False]\n");
  });
});

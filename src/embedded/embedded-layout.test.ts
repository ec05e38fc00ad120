import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { explainFileError } from "./embedded-error.ts";
import { prepareLayout } from "./embedded-layout.ts";

test.runIf(process.platform === "linux")("the layout says where no folder can be made", () => {
  const make = () => {
    try {
      prepareLayout("/proc/vigil/data");
    } catch (error) {
      throw explainFileError(error, "/proc/vigil/data");
    }
  };
  expect(make).toThrow("/proc/vigil cannot be made there; choose another --data-dir");
});

describe.runIf(process.getuid?.() === 0)("the folders of a server that root starts", () => {
  let base = "";

  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "vigil-layout-")));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  test("may lie below a closed one where they can be handed over", () => {
    const { root, handsOver } = prepareLayout(join(base, "data"), "linux");
    expect(handsOver).toBe(true);
    expect(statSync(base).mode & 0o777).toBe(0o700);
    expect(statSync(root).mode & 0o777).toBe(0o700);
    expect(statSync(root).uid).not.toBe(0);
  });

  test("may not where they cannot, and the closed one is named", () => {
    chmodSync(base, 0o755);
    mkdirSync(join(base, "private"), { mode: 0o700 });
    expect(() => prepareLayout(join(base, "private/data"), "darwin")).toThrow(`chmod o+x ${join(base, "private")}`);
    expect(prepareLayout(join(base, "data"), "darwin").handsOver).toBe(false);
  });
});

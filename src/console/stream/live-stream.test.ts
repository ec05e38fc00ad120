import { describe, expect, it } from "vitest";
import type { PersonPrincipal } from "../../http/principal.ts";
import { LiveStream } from "./live-stream.ts";

const personWith = (role: string) => ({ person: { role }, organization: { id: "o" } }) as unknown as PersonPrincipal;

describe("a live stream", () => {
  it("closes for a reader that falls four megabytes behind, however much comes at once", () => {
    let closed = 0;
    const stream = new LiveStream(personWith("ADMIN"), undefined, () => closed++);
    const chunk = Buffer.alloc(5_000_000);
    stream.write(chunk);
    expect([stream.output.destroyed, stream.output.readableLength]).toEqual([false, 5_000_000]);
    stream.write(chunk);
    expect(stream.output.destroyed).toBe(true);
    stream.write(chunk);
    stream.end();
    return new Promise<void>((resolve) => setImmediate(resolve)).then(() => expect(closed).toBe(1));
  });

  it("shows people below ADMIN their devices alone", () => {
    const user = new LiveStream(personWith("USER"), undefined, () => undefined);
    user.deviceIds = new Set(["a"]);
    expect([user.sees("a"), user.sees("b")]).toEqual([true, false]);
    expect(new LiveStream(personWith("ADMIN"), undefined, () => undefined).sees("b")).toBe(true);
  });
});

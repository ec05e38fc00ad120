import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { speakByCommand, speakByHttp } from "./speech-provider.ts";

const request = { text: "Ciao", language: "it", voice: "default" };

describe("a program that speaks", () => {
  it("gets the text on its input and its arguments filled in", async () => {
    const echo = "process.stdout.write(process.argv[1] + process.argv[2] + ':'); process.stdin.pipe(process.stdout)";
    const spoken = await speakByCommand([process.execPath, "-e", echo, "{language}", "{voice}"], request);
    expect(spoken.toString()).toBe("itdefault:Ciao");
  });

  it("fails with its exit code, or when there is none", async () => {
    await expect(speakByCommand([process.execPath, "-e", "process.exit(3)"], request)).rejects.toThrow("ended with 3");
    await expect(speakByCommand(["/nonexistent/program"], request)).rejects.toThrow("ENOENT");
  });
});

describe("a service that speaks", () => {
  it("is asked for one text; its failure is one, its refusal of the text is an answer", async () => {
    const bodies: unknown[] = [];
    const server = createServer((incoming, answer) => {
      let body = "";
      incoming.on("data", (chunk) => {
        body += chunk;
      });
      incoming.on("end", () => {
        bodies.push(JSON.parse(body));
        answer.writeHead([200, 503, 422][bodies.length - 1] ?? 500).end("sound");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/audio/speech`;
    try {
      expect((await speakByHttp(url, request))?.toString()).toBe("sound");
      expect(bodies).toEqual([{ input: "Ciao", language: "it", voice: "default", response_format: "wav" }]);
      await expect(speakByHttp(url, request)).rejects.toThrow("503");
      expect(await speakByHttp(url, request)).toBeUndefined();
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});

import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

/** Captured frames that are kept beside the repository, not in it; a worktree lies one folder deeper. */
const folders = ["../shared/vectors", "../../shared/vectors"].map((folder) =>
  resolve(import.meta.dirname, "../..", folder),
);

export interface Vector {
  direction: "uplink" | "framing" | "framing_encode" | "command";
  frame: string;
  encoding: "text" | "hex";
  layer?: "wire" | "deframed" | "http";
  seq?: number;
  model?: string;
  confidence?: string;
  uniqueId?: string;
  /** Of protocols whose frames are requests. */
  http?: { method: string; url: string; headers?: Record<string, string>; body?: string };
  command?: { type: string; attributes?: Record<string, unknown> };
  expect: {
    kind: string;
    time?: string;
    valid?: boolean;
    lat?: number;
    lon?: number;
    attributes?: Record<string, unknown>;
    frame?: string;
    encoding?: "text" | "hex";
    reply?: string;
    reply_pattern?: string;
    no_reply?: boolean;
  };
}

/** The vectors of a file like `watch.jsonl`; empty where they are not at hand. */
export function readVectors(file: string): Vector[] {
  const path = folders.map((folder) => resolve(folder, file)).find(existsSync);
  if (path === undefined) return [];
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line) as Vector);
}

export function vectorBytes({ frame = "", encoding }: { frame?: string; encoding?: "text" | "hex" }): Buffer {
  return Buffer.from(frame, encoding === "hex" ? "hex" : "utf8");
}

/** The request of a row as a client writes it. */
export function requestBytes({ http }: Vector): Buffer {
  if (http === undefined) throw new Error("The row is no request.");
  const body = Buffer.from(http.body ?? "");
  const headers = Object.entries({ Host: "vigil", ...http.headers, "Content-Length": String(body.length) });
  const head = [`${http.method} ${http.url} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}

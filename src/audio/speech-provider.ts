import { spawn } from "node:child_process";
import { once } from "node:events";

/** Who speaks texts: the engine that comes along, a program, a service, or nobody. */
export type SpeechSetting =
  | { kind: "espeak" }
  | { kind: "command"; argv: readonly string[] }
  | { kind: "http"; url: string }
  | { kind: "off" };

export interface SpeechRequest {
  text: string;
  language: string;
  voice: string;
}

const timeoutMs = 20_000;
const maxBytes = 10 * 1_048_576;

/** `{language}` and `{voice}` in the arguments are filled in; the text goes to the program's input, its output is audio. */
export async function speakByCommand(
  argv: readonly string[],
  { text, language, voice }: SpeechRequest,
): Promise<Buffer> {
  const [program = "", ...args] = argv.map((part) =>
    part.replaceAll("{language}", language).replaceAll("{voice}", voice),
  );
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], timeout: timeoutMs, killSignal: "SIGKILL" });
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > maxBytes) child.kill("SIGKILL");
    else chunks.push(chunk);
  });
  // A program that does not read its input says why by its exit code.
  child.stdin.on("error", () => undefined);
  child.stdin.end(text);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the speech program ended with ${code ?? "a signal"}`);
  return Buffer.concat(chunks);
}

/** What a service answers to a text that it does not speak; other refusals are about the service. */
const refusals: readonly number[] = [400, 422];

/**
 * POST of a JSON body in the form of `/v1/audio/speech`, with the language beside it; the answer is audio. Undefined: the
 * service refuses the text.
 */
export async function speakByHttp(url: string, { text, language, voice }: SpeechRequest): Promise<Buffer | undefined> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ input: text, language, voice, response_format: "wav" }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (refusals.includes(response.status)) {
    await response.body?.cancel();
    return undefined;
  }
  if (!response.ok || !response.body) throw new Error(`the speech service answered ${response.status}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("the answer of the speech service is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

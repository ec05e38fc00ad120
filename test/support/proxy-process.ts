import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** The proxies of deploy/proxy as an operator runs them: the examples themselves, with other ports and certificates. */
const examples = resolve(import.meta.dirname, "../../deploy/proxy");
const streamModule = "/usr/lib/nginx/modules/ngx_stream_module.so";

const runs = (program: string): boolean => spawnSync(program, ["-v"]).status === 0;
export const hasNginx = runs("nginx");
export const hasNginxStream = hasNginx && existsSync(streamModule);
export const hasHaproxy = runs("haproxy");
export const hasCaddy = spawnSync("caddy", ["version"]).status === 0;

export interface ProxyProcess {
  close(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === "object" && address ? address.port : 0;
}

/** An example with its places filled in; one that the example does not have is a mistake of the test. */
export async function example(file: string, places: Readonly<Record<string, string>>): Promise<string> {
  let text = await readFile(join(examples, file), "utf8");
  for (const [place, value] of Object.entries(places)) {
    if (!text.includes(place)) throw new Error(`${file} has no ${place}`);
    text = text.replaceAll(place, value);
  }
  return text;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.once("connect", () => done(true)).once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });

async function run(
  program: string,
  args: (folder: string) => string[],
  files: Readonly<Record<string, string>>,
  port: number,
): Promise<ProxyProcess> {
  const folder = await mkdtemp(join(tmpdir(), "vigil-proxy-"));
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text.replaceAll("FOLDER", folder));
  }
  const child: ChildProcess = spawn(program, args(folder), { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    output += chunk;
  });
  const ended = new Promise((done) => child.once("exit", done));
  const close = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  for (const limitMs = performance.now() + 30_000; !(await isOpen(port)); ) {
    if (child.exitCode !== null || performance.now() > limitMs) {
      await close();
      throw new Error(`${program} did not start: ${output}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return { close };
}

const temporaryPaths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
  (kind) => `${kind}_temp_path FOLDER/${kind};`,
);
const nginxHead = (module: string): string =>
  [
    module,
    // Workers of another user could not enter the folder.
    process.getuid?.() === 0 ? "user root;" : "",
    "daemon off; pid FOLDER/pid; error_log stderr warn; worker_processes 1; events {}",
  ].join("\n");

/** `block`: of which the configuration is a part. */
export function startNginx(
  block: "http" | "stream",
  configuration: string,
  port: number,
  files: Readonly<Record<string, string>> = {},
): Promise<ProxyProcess> {
  const isStream = block === "stream";
  const inside = isStream ? "" : `access_log off; ${temporaryPaths.join(" ")}`;
  const main = `${nginxHead(isStream ? `load_module ${streamModule};` : "")}\n${block} {\n${inside}\n${configuration}\n}\n`;
  const args = (folder: string): string[] => ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")];
  return run("nginx", args, { ...files, "nginx.conf": main }, port);
}

export const startHaproxy = (configuration: string, port: number): Promise<ProxyProcess> =>
  run("haproxy", (folder) => ["-db", "-f", join(folder, "haproxy.cfg")], { "haproxy.cfg": configuration }, port);

/** The configuration with options for a server that asks nobody for a certificate and leaves nothing behind. */
export function startCaddy(
  configuration: string,
  port: number,
  files: Readonly<Record<string, string>>,
): Promise<ProxyProcess> {
  const options =
    "{\n\tadmin off\n\tauto_https off\n\tstorage file_system FOLDER/storage\n\tservers {\n\t\tprotocols h1 h2\n\t}\n}\n";
  const args = (folder: string): string[] => ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  return run("caddy", args, { ...files, Caddyfile: `${options}${configuration}` }, port);
}

import { lookup } from "node:dns/promises";

const resolveTimeoutMs = 5000;

/** Every address of a name. No answer in time counts as "does not resolve yet": each delivery checks again. */
export async function resolveHost(hostname: string): Promise<string[]> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<string[]>((done) => {
    timer = setTimeout(() => done([]), resolveTimeoutMs);
  });
  const found = lookup(hostname, { all: true }).then(
    (answers) => answers.map(({ address }) => address),
    () => [],
  );
  return Promise.race([found, timeout]).finally(() => clearTimeout(timer));
}

/** `host` or `host:port`, in the form in which a URL shows it. Undefined: it is something else. */
export function parseLinkHost(text: string): string | undefined {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined;
  return url !== undefined && /^[^/?#@\\\s]+$/.test(text) ? url.host : undefined;
}

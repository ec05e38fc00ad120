/**
 * PostgreSQL does not run as root, and the user that root runs it as may be unable to reach the data folder: a home or a
 * temporary folder is closed to others. On Linux root therefore opens what the child needs and hands it over as
 * descriptors. /proc/self/fd/N leads to the open folder itself, whatever the permissions of its parents are.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { EmbeddedServerError } from "./embedded-error.ts";
import type { Layout } from "./embedded-layout.ts";

const prefix = "/proc/self/fd/";
/** The first three are stdin, stdout and stderr. */
const firstDescriptor = 3;

export interface Handover<Name extends string> {
  /** What the child, and whatever it starts, calls the files. */
  paths: Record<Name, string>;
  /** To be appended to the stdio of the child. */
  descriptors: number[];
  close(): void;
}

export function handOver<Name extends string>(layout: Layout, files: Record<Name, string>): Handover<Name> {
  if (!layout.handsOver) return { paths: files, descriptors: [], close: () => undefined };
  const descriptors: number[] = [];
  const close = () => {
    for (const fd of descriptors) closeSync(fd);
  };
  try {
    const paths = { ...files };
    for (const name in files) {
      paths[name] = `${prefix}${firstDescriptor + descriptors.length}`;
      descriptors.push(openOwn(files[name], layout));
    }
    return { paths, descriptors, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** True for a path that has a meaning only inside the server. */
export const isHandoverPath = (path: string): boolean => path.startsWith(prefix);

/** Never what belongs to another: the server's user could have put a link to a closed folder in the place of its own. */
function openOwn(path: string, { account }: Layout): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const { uid } = fstatSync(fd);
  if (uid === account?.uid) return fd;
  closeSync(fd);
  throw new EmbeddedServerError(`${path} belongs to uid ${uid} and not to uid ${account?.uid}; move it away`);
}

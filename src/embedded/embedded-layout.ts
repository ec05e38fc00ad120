import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { EmbeddedServerError } from "./embedded-error.ts";

/** Whom PostgreSQL runs as, when not as ourselves. Fits the options of spawn. */
export interface Account {
  uid: number;
  gid: number;
}

/** Where everything of the embedded server lies. All paths are real paths, so that they can be compared with /proc. */
export interface Layout {
  dataDir: string;
  root: string;
  cluster: string;
  run: string;
  log: string;
  account: Account | undefined;
  /** The server gets its folders as descriptors, because its account may be unable to reach them. */
  handsOver: boolean;
}

/** Creates the folders, each for the eyes of the server's user only. */
export function prepareLayout(wantedDir: string, platform: string = process.platform): Layout {
  const wanted = resolve(wantedDir);
  const firstCreated = makeFolders(wanted);
  const dataDir = realpathSync(wanted);
  // Either folder may be a link to another disk.
  const root = realPath(join(dataDir, "postgres"));
  const layout = { dataDir, root, cluster: realPath(join(root, "cluster")), run: join(root, "run") };
  const account = process.getuid?.() === 0 ? chooseAccount(layout.cluster, dataDir) : undefined;
  const handsOver = account !== undefined && platform === "linux";
  if (account && !handsOver) {
    if (firstCreated) allowTraversal(realpathSync(firstCreated), dataDir);
    const blocked = findBlockedFolder(dataDir, account);
    if (blocked) {
      throw new EmbeddedServerError(
        `PostgreSQL runs as uid ${account.uid} and cannot pass through ${blocked}; run "chmod o+x ${blocked}" or choose another --data-dir`,
      );
    }
  }
  const owner = account?.uid ?? process.getuid?.() ?? 0;
  for (const folder of [root, layout.run]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (account) lchownSync(folder, account.uid, account.gid);
    requireOwner(folder, owner, root);
    chmodSync(folder, 0o700);
  }
  if (existsSync(layout.cluster)) requireOwner(layout.cluster, owner, root);
  return { ...layout, log: join(layout.run, "postgres.log"), account, handsOver };
}

/**
 * The folder and those above it; answers the first that was made. Node's recursive mkdir never comes back where the system
 * makes no folders and says that there is none, as under /proc (Node 20).
 */
function makeFolders(path: string): string | undefined {
  const isFolder = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder()) return undefined;
  const firstCreated = dirname(path) === path ? undefined : makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder()) throw error;
  }
  return firstCreated ?? path;
}

const realPath = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/**
 * PostgreSQL refuses root. The owner of what is already there comes first, so that root can run a command on the
 * data folder of a service that runs as an ordinary user.
 */
function chooseAccount(cluster: string, dataDir: string): Account {
  for (const path of [cluster, dataDir]) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat && stat.uid !== 0) return { uid: stat.uid, gid: stat.gid };
  }
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  // A user of its own first: whatever else runs as nobody could reach into the server.
  const found = ["vigil", "postgres", "nobody"].flatMap((name) => users.find((user) => user[0] === name) ?? []);
  const [, , uid, gid] = found;
  if (uid === undefined) {
    throw new EmbeddedServerError("PostgreSQL does not run as root and there is no user nobody; run as another user");
  }
  // macOS writes -2.
  return { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 };
}

/** With a strict umask the folders that we have just made ourselves would shut the server out. */
function allowTraversal(first: string, last: string): void {
  for (let folder = last; folder.length >= first.length; folder = dirname(folder)) {
    chmodSync(folder, statSync(folder).mode | 0o011);
  }
}

function requireOwner(folder: string, uid: number, root: string): void {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) throw new EmbeddedServerError(`${folder} is not a folder; move it away and start again`);
  if (stat.uid === uid) return;
  throw new EmbeddedServerError(
    `${folder} belongs to uid ${stat.uid} and not to uid ${uid}; run as its owner, give ${root} to uid ${uid} or choose another --data-dir`,
  );
}

/** The topmost folder on the way that the account may not enter. */
export function findBlockedFolder(target: string, account: Account): string | undefined {
  const parent = dirname(target);
  const above = parent === target ? undefined : findBlockedFolder(parent, account);
  return above ?? (allows(statSync(target), account, 0o1) ? undefined : target);
}

/** Bits as in "other": 4 read, 1 execute. */
export function allows(stat: Stats, account: Account, bits: number): boolean {
  const shift = stat.uid === account.uid ? 6 : stat.gid === account.gid ? 3 : 0;
  return ((stat.mode >> shift) & bits) === bits;
}

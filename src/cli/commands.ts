import type { Command } from "./command.ts";

type Group = () => Promise<readonly Command[]>;

/** The commands by their first word, in the order in which help lists them. */
const groups: Readonly<Record<string, Group>> = {
  start: async () => (await import("./start-command.ts")).startCommands,
  demo: async () => (await import("./demo-command.ts")).demoCommands,
  org: async () => [
    ...(await import("./org-commands.ts")).orgCommands,
    ...(await import("./org-delete-command.ts")).orgDeleteCommands,
  ],
  integration: async () => [
    ...(await import("./integration-commands.ts")).integrationCommands,
    ...(await import("./rotation-commands.ts")).rotationCommands,
  ],
  user: async () => [
    ...(await import("./user-commands.ts")).userCommands,
    ...(await import("./member-commands.ts")).memberCommands,
    ...(await import("./user-data-commands.ts")).userDataCommands,
  ],
  device: async () => [
    ...(await import("./device-commands.ts")).deviceCommands,
    ...(await import("./device-look-commands.ts")).deviceLookCommands,
    ...(await import("./poisoned-commands.ts")).poisonedCommands,
    ...(await import("./device-erase-command.ts")).deviceEraseCommands,
  ],
  webhooks: async () => (await import("./webhook-commands.ts")).webhookCommands,
  simulate: async () => (await import("./simulate-command.ts")).simulateCommands,
  db: async () => [
    ...(await import("./db-commands.ts")).dbCommands,
    ...(await import("./db-upgrade-command.ts")).dbUpgradeCommands,
  ],
  backup: async () => (await import("./backup-commands.ts")).backupCommands,
  restore: async () => (await import("./restore-command.ts")).restoreCommands,
  bench: async () => (await import("./bench-command.ts")).benchCommands,
  doctor: async () => (await import("./doctor-command.ts")).doctorCommands,
};

/** Every command. */
export const loadAllCommands = async (): Promise<Command[]> =>
  (await Promise.all(Object.values(groups).map((load) => load()))).flat();

/** Those that the line can be about: a command starts in a third of the time when the others are not read. */
export async function loadCommandsFor(argv: readonly string[]): Promise<readonly Command[]> {
  const [first = ""] = argv;
  return Object.hasOwn(groups, first) ? (groups[first] as Group)() : loadAllCommands();
}

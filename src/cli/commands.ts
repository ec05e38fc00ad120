import type { Command } from "./command.ts";
import { dbCommands } from "./db-commands.ts";
import { demoCommands } from "./demo-command.ts";
import { deviceCommands } from "./device-commands.ts";
import { doctorCommands } from "./doctor-command.ts";
import { integrationCommands } from "./integration-commands.ts";
import { orgCommands } from "./org-commands.ts";
import { rotationCommands } from "./rotation-commands.ts";
import { simulateCommands } from "./simulate-command.ts";
import { startCommands } from "./start-command.ts";
import { userCommands } from "./user-commands.ts";
import { webhookCommands } from "./webhook-commands.ts";

/** Every command, in the order in which help lists them. */
export const commands: readonly Command[] = [
  ...startCommands,
  ...demoCommands,
  ...orgCommands,
  ...integrationCommands,
  ...rotationCommands,
  ...userCommands,
  ...deviceCommands,
  ...webhookCommands,
  ...simulateCommands,
  ...dbCommands,
  ...doctorCommands,
];

import { collection, type ObjectContext } from "../../http/collection.ts";
import { hasFeature } from "../../http/gates.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import type { Route } from "../../http/route.ts";
import { featureNotEnabled } from "../../lib/errors.ts";
import { getOperableDevice } from "../assignments/operable-device.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { capabilitiesOfDevice } from "../devices/capability-override-store.ts";
import { type DeviceRow, getVisibleDevice } from "../devices/device-store.ts";
import { commandList, listCommands } from "./command-list.ts";
import { makeCommandCheck } from "./command-params.ts";
import { Command, CommandRequest, commandFor, toCommand } from "./command-record.ts";
import { createCommand, deleteCommand, getCommand } from "./command-store.ts";

const commands = collection({
  path: "/api/v1/devices/:device_uid/commands/",
  operations: "devices_commands",
  tag: "Commands",
  reads: { partners: ["commands:read"], people: "VIEWER" },
  writes: { partners: ["commands:write"], people: "USER" },
  params: { device_uid: "imei", command_uuid: "uuid" },
  key: "command_uuid",
});

const visible = ({ db, principal, params }: ObjectContext): Promise<DeviceRow> =>
  getVisibleDevice(db, principal, params.device_uid as string);
const operable = ({ db, principal, params }: ObjectContext): Promise<DeviceRow> =>
  getOperableDevice(db, principal, params.device_uid as string);

const writable = ["command_type", "params", "expires_in"];
const fixedFields = Object.keys(Command.properties).filter((name) => !writable.includes(name));

const senderNameOf = (principal: Principal): string =>
  principal.kind === "partner" ? principal.partner.integrationName : principal.person.fullName;

export function commandRoutes(catalog: Catalog, commandTtlSeconds: number): Route[] {
  const check = makeCommandCheck();
  return [
    commands.list({
      summary: "Commands of a device, newest first",
      list: commandList,
      item: Command,
      load: visible,
      rows: ({ db, organizationId, object: device, list }) => listCommands(db, organizationId, device.id, list()),
      toItem: (row, { principal }) => commandFor(principal)(row),
    }),
    commands.create({
      summary: "Send a command to a device",
      description:
        "Answers at once with status `pending`; poll the command until `terminal` is true, or wait for `command.ack` and `command.failed`. 429 `command_queue_full` while 20 commands of the device are not final.",
      body: CommandRequest,
      item: Command,
      load: operable,
      handle: async ({ db, object: device, body, principal, organizationId, actor, now, transaction }) => {
        const { command_type: type, expires_in: expiresInSeconds = commandTtlSeconds } = body;
        if (type === "send_message" && !hasFeature(principal, "messaging")) throw featureNotEnabled("messaging");
        const params = check(await capabilitiesOfDevice(db, device, catalog), type, body.params ?? {});
        const command = await transaction((tx) =>
          createCommand(
            tx,
            organizationId,
            {
              deviceId: device.id,
              type,
              params,
              expiresInSeconds,
              senderName: typeof params.sender_name === "string" ? params.sender_name : senderNameOf(principal),
              approve: (record) =>
                refuseReadOnly(body, fixedFields, [{ ...toCommand(record), command_uuid: null }], { isCreate: true }),
            },
            actor,
            now,
          ),
        );
        return commandFor(principal)(command);
      },
    }),
    commands.retrieve({
      summary: "One command",
      item: Command,
      load: visible,
      handle: async ({ db, object: device, organizationId, params, principal }) =>
        commandFor(principal)(await getCommand(db, organizationId, device.id, params.command_uuid as string)),
    }),
    commands.destroy({
      summary: "Delete a command",
      description:
        "A pending command is cancelled. 409 `command_in_flight` while the command is being sent; a final one is hidden.",
      errors: [409],
      load: operable,
      handle: ({ object: device, organizationId, params, actor, now, transaction }) =>
        transaction((tx) => deleteCommand(tx, organizationId, device.id, params.command_uuid as string, actor, now)),
    }),
  ];
}

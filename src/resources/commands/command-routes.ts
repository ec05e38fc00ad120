import { hasFeature } from "../../http/gates.ts";
import type { Principal } from "../../http/principal.ts";
import { refuseReadOnly } from "../../http/read-only.ts";
import { created, type LoadContext, noContent, ok, type Route, route } from "../../http/route.ts";
import { cursorPageOf, refTo } from "../../http/schemas.ts";
import { featureNotEnabled } from "../../lib/errors.ts";
import { getOperableDevice } from "../assignments/operable-device.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { capabilitiesOfDevice } from "../devices/capability-override-store.ts";
import { getVisibleDevice } from "../devices/device-store.ts";
import { commandList, listCommands } from "./command-list.ts";
import { makeCommandCheck } from "./command-params.ts";
import { Command, CommandRequest, toCommand } from "./command-record.ts";
import { createCommand, deleteCommand, getCommand } from "./command-store.ts";

type NoQuery = Readonly<Record<never, never>>;

const reads = { tag: "Commands", partners: ["commands:read"], people: "VIEWER" } as const;
const writes = { tag: "Commands", partners: ["commands:write"], people: "USER" } as const;

const writable = ["command_type", "params", "expires_in"];
const fixedFields = Object.keys(Command.properties).filter((name) => !writable.includes(name));

const senderNameOf = (principal: Principal): string =>
  principal.kind === "partner" ? principal.partner.integrationName : principal.person.fullName;

export function commandRoutes(catalog: Catalog, commandTtlSeconds: number): Route[] {
  const check = makeCommandCheck();
  return [
    route({
      ...reads,
      method: "GET",
      path: "/api/v1/devices/:device_uid/commands/",
      operationId: "devices_commands_list",
      summary: "Commands of a device, newest first",
      params: { device_uid: "imei" },
      list: commandList,
      responses: { 200: refTo(cursorPageOf(Command)) },
      load: ({ db, principal, params }) => getVisibleDevice(db, principal, params.device_uid as string),
      handle: async ({ db, organizationId, object: device, list, page }) =>
        page(await listCommands(db, organizationId, device.id, list()), toCommand),
    }),
    route({
      ...writes,
      method: "POST",
      path: "/api/v1/devices/:device_uid/commands/",
      operationId: "devices_commands_create",
      summary: "Send a command to a device",
      description:
        "Answers at once with status `pending`; poll the command until `terminal` is true, or wait for `command.ack` and `command.failed`. 429 `command_queue_full` while 20 commands of the device are not final.",
      params: { device_uid: "imei" },
      isIdempotent: true,
      body: refTo(CommandRequest),
      responses: { 201: refTo(Command) },
      load: ({ db, principal, params }) => getOperableDevice(db, principal, params.device_uid as string),
      handle: async ({ db, object: device, body, principal, organizationId, actor, now, transaction, link }) => {
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
        const path = `/api/v1/devices/${device.uid}/commands/${command.id}/`;
        return created(toCommand(command), { Location: link(path) });
      },
    }),
    route({
      ...reads,
      method: "GET",
      path: "/api/v1/devices/:device_uid/commands/:command_uuid/",
      operationId: "devices_commands_retrieve",
      summary: "One command",
      params: { device_uid: "imei", command_uuid: "uuid" },
      responses: { 200: refTo(Command) },
      handle: async ({ db, principal, organizationId, params }) => {
        const device = await getVisibleDevice(db, principal, params.device_uid as string);
        return ok(toCommand(await getCommand(db, organizationId, device.id, params.command_uuid as string)));
      },
    }),
    route({
      ...writes,
      method: "DELETE",
      path: "/api/v1/devices/:device_uid/commands/:command_uuid/",
      operationId: "devices_commands_destroy",
      summary: "Delete a command",
      description:
        "A pending command is never sent. 409 `command_in_flight` while the device is being told; a final one is hidden.",
      params: { device_uid: "imei", command_uuid: "uuid" },
      responses: { 204: null },
      errors: [409],
      load: ({ db, principal, params }: LoadContext<NoQuery, NoQuery>) =>
        getOperableDevice(db, principal, params.device_uid as string),
      handle: async ({ object: device, organizationId, params, actor, now, transaction }) => {
        const id = params.command_uuid as string;
        await transaction((tx) => deleteCommand(tx, organizationId, device.id, id, actor, now));
        return noContent();
      },
    }),
  ];
}

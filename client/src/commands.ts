import { TimeoutError } from "./errors.ts";
import { type List, listOf, type PageOf, type QueryOf } from "./lists.ts";
import { pause } from "./retries.ts";
import type { Command, CommandRequest } from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface SettleOptions {
  signal?: AbortSignal | undefined;
  /** Default: no limit. The command itself ends at its `expires_at`. */
  timeoutMs?: number | undefined;
  /** The longest wait between two looks. Default: 5 seconds. */
  maxPollMs?: number | undefined;
}

/** The accepted command, and a way to wait for its end. */
export type SentCommand = Promise<Command> & {
  /** Resolves with the command in its final status: `ack_ok`, `ack_error` or `timeout`. */
  settled(options?: SettleOptions): Promise<Command>;
};

export interface Commands {
  send(deviceUid: string, command: CommandRequest, options?: CallOptions): SentCommand;
  get(deviceUid: string, commandUuid: string, options?: CallOptions): Promise<Command>;
  settled(command: Pick<Command, "device_uid" | "command_uuid">, options?: SettleOptions): Promise<Command>;
  list(
    deviceUid: string,
    query?: QueryOf<"devices_commands_list">,
    options?: CallOptions,
  ): List<Command, PageOf<"devices_commands_list">>;
  delete(deviceUid: string, commandUuid: string, options?: CallOptions): Promise<undefined>;
}

const firstPollMs = 250;
const defaultMaxPollMs = 5000;

export function makeCommands(transport: Transport): Commands {
  const { call } = transport;
  const get: Commands["get"] = (device_uid, command_uuid, options) =>
    call("devices_commands_retrieve", { path: { device_uid, command_uuid } }, options);

  const settled: Commands["settled"] = async ({ device_uid, command_uuid }, options = {}) => {
    const { signal, timeoutMs = Number.POSITIVE_INFINITY, maxPollMs = defaultMaxPollMs } = options;
    const endMs = Date.now() + timeoutMs;
    for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 1.5, maxPollMs)) {
      const command = await get(device_uid, command_uuid, { signal });
      if (command.terminal) return command;
      if (Date.now() >= endMs) throw new TimeoutError(`The command is still ${command.status} after ${timeoutMs} ms.`);
      await pause(Math.min(waitMs, maxPollMs, endMs - Date.now()), signal);
    }
  };

  return {
    send: (device_uid, body, options) => {
      const sent = call("devices_commands_create", { path: { device_uid }, body }, options);
      return Object.assign(sent, {
        settled: async (settle?: SettleOptions) => {
          const command = await sent;
          return command.terminal ? command : settled(command, { signal: options?.signal, ...settle });
        },
      });
    },
    get,
    settled,
    list: (device_uid, query = {}, options) =>
      listOf(transport, "devices_commands_list", { path: { device_uid }, query }, options),
    delete: (device_uid, command_uuid, options) =>
      call("devices_commands_destroy", { path: { device_uid, command_uuid } }, options),
  };
}

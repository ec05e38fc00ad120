import { operationsOf, pascal, queryName, queryOf, refName } from "./python-types.mjs";

/** The methods of the Python client by the operation they call. Those that are more than one call are written by hand. */
const resources = {
  Organization: { self: "organizations_self_retrieve" },
  Catalog: {
    protocols: "protocols_list",
    protocol: "protocols_retrieve",
    models: "models_list",
    models_of: "protocols_models_list",
    model: "protocols_models_retrieve",
    capabilities: "protocols_models_capabilities_list",
  },
  Users: {
    list: "auth_users_list",
    get: "auth_users_retrieve",
    create: "auth_users_create",
    update: "auth_users_partial_update",
    delete: "auth_users_destroy",
    invite: "auth_users_invite_create",
  },
  Devices: {
    list: "devices_list",
    get: "devices_retrieve",
    create: "devices_create",
    replace: "devices_update",
    update: "devices_partial_update",
    delete: "devices_destroy",
    capabilities: "devices_capabilities_retrieve",
    config: "devices_config_retrieve",
  },
  Assignments: {
    list: "assignments_list",
    get: "assignments_retrieve",
    assign: "devices_assign_create",
    unassign: "devices_unassign_create",
    share: "devices_share_create",
    unshare: "devices_share_destroy",
  },
  Invitations: {
    list: "organizations_invitations_list",
    get: "organizations_invitations_retrieve",
    delete: "organizations_invitations_destroy",
    revoke: "organizations_invitations_revoke_create",
    server_accept: "organizations_invitations_server_accept_create",
  },
  Locations: {
    list: "devices_locations_list",
    latest: "devices_locations_latest_retrieve",
    segments: "devices_locations_segments_retrieve",
  },
  TelemetryLog: { list: "devices_telemetry_list", latest: "devices_telemetry_latest_retrieve" },
  EcgCalls: {
    list: "devices_ecg_list",
    get: "devices_ecg_retrieve",
    waveform: "devices_ecg_waveform_retrieve",
  },
  Events: {
    list: "events_list",
    get: "events_retrieve",
    delete: "events_destroy",
    acknowledge: "events_acknowledge_create",
  },
  CommandCalls: {
    list: "devices_commands_list",
    get: "devices_commands_retrieve",
    create: "devices_commands_create",
    delete: "devices_commands_destroy",
  },
  MessageCalls: {
    list: "devices_messages_list",
    get: "devices_messages_retrieve",
    delete: "devices_messages_destroy",
    bulk_delete: "devices_messages_bulk_delete_create",
    send_text: "devices_messages_send_text_create",
    send_speech: "devices_messages_send_tts_create",
  },
  Geofences: {
    list: "geofences_list",
    get: "geofences_retrieve",
    create: "geofences_create",
    replace: "geofences_update",
    update: "geofences_partial_update",
    delete: "geofences_destroy",
    link_devices: "geofences_devices_create",
    unlink_device: "geofences_devices_destroy",
  },
  AlertThresholds: {
    list: "alert_thresholds_list",
    get: "alert_thresholds_retrieve",
    create: "alert_thresholds_create",
    update: "alert_thresholds_partial_update",
    delete: "alert_thresholds_destroy",
  },
  AuditLog: { list: "audit_log_list", get: "audit_log_retrieve" },
  OutboundEventCalls: { page: "partner_outbound_events_list" },
};

function answerOf({ responses }) {
  const names = Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .map(([, { content }]) => {
      const ref = content?.["application/json"]?.schema?.$ref;
      return ref ? refName(ref) : "None";
    });
  return [...new Set(names)].join(" | ");
}

function signature(name, parameters, answer, isAsync) {
  const head = `    ${isAsync ? "async " : ""}def ${name}`;
  const line = `${head}(${["self", ...parameters].join(", ")}) -> ${answer}:`;
  if (line.length <= 110) return line;
  return `${head}(\n${["self", ...parameters].map((one) => `        ${one},\n`).join("")}    ) -> ${answer}:`;
}

function methodOf(name, { operation }, schemas) {
  const { operationId, parameters = [], requestBody, summary, responses } = operation;
  const inPath = parameters.filter((one) => one.in === "path");
  const path = inPath.map((one) => `"${one.name}": ${one.name}`).join(", ");
  const pathArguments = inPath.map((one) => `${one.name}: ${one.schema.type === "integer" ? "int" : "str"}`);
  const hasQuery = queryOf(operation).length > 0;
  const query = hasQuery ? [`**query: Unpack[${queryName(operation)}]`] : [];
  const options = ["*", "options: CallOptions | None = None"];
  const doc = `        """${summary}."""`.replace("..", ".");
  const page = schemas[answerOf({ responses })];
  const rows = page?.properties?.results?.items?.$ref;
  if (rows) {
    const answer = `AsyncRows[${refName(rows)}, ${answerOf({ responses })}]`;
    const head = signature(name, [...pathArguments, ...options, ...query], answer, false);
    return `${head}\n${doc}\n        return AsyncRows(self._transport, "${operationId}", {${path}}, {**query}, options)\n`;
  }
  const body = requestBody ? refName(Object.values(requestBody.content)[0].schema.$ref) : undefined;
  const bodyArgument = body ? [requestBody.required ? `body: ${body}` : `body: ${body} | None = None`] : [];
  const sent = body ? (requestBody.required ? "body" : "body or {}") : "None";
  const answer = answerOf({ responses });
  const head = signature(name, [...pathArguments, ...bodyArgument, ...options, ...query], answer, true);
  const passed = hasQuery ? "{**query}" : "{}";
  const call = `await self._transport.call("${operationId}", {${path}}, ${passed}, ${sent}, options)`;
  if (answer === "None") return `${head}\n${doc}\n        ${call}\n`;
  return `${head}\n${doc}\n        answer = ${call}\n        return cast("${answer}", answer)\n`;
}

export function resourcesFile(description) {
  const byId = new Map(operationsOf(description).map((one) => [one.operation.operationId, one]));
  const { schemas } = description.components;
  const classes = Object.entries(resources).map(([resource, methods]) => {
    // A method called list would hide the built-in one in the annotations after it: none of them uses it.
    const texts = Object.entries(methods).map(([name, id]) => methodOf(name, byId.get(id), schemas));
    const start = "    def __init__(self, transport: AsyncTransport) -> None:\n        self._transport = transport\n";
    return `class Async${resource}:\n${[start, ...texts].join("\n")}`;
  });
  const text = classes.join("\n\n");
  const names = (pattern, known) => [...new Set(text.match(pattern))].filter(known).toSorted();
  const list = (found) => found.map((name) => `    ${name},\n`).join("");
  const queries = names(/\b\w+Query\b/g, () => true);
  const used = names(/\b[A-Z]\w+\b/g, (name) => name in schemas);
  return `from __future__ import annotations

from typing import Unpack, cast

from ..operations import (
${list(queries)})
from ..options import CallOptions
from ..schemas import (
${list(used)})
from .lists import AsyncRows
from .transport import AsyncTransport


${text}`;
}

/** What stands beside code and text in the bodies of some codes. */
const details = {
  validation_error: { errors: "dict[str, list[str]]" },
  insufficient_scope: { required_scopes: "list[str]" },
  feature_not_enabled: { feature: "str" },
  command_queue_full: { queue_limit: "int", queue_length: "int" },
  throttled: { violated_policies: "list[str]" },
  cursor_expired: { oldest_available_cursor: "str" },
};

const className = (code) => (code.endsWith("_error") ? pascal(code) : `${pascal(code)}Error`);

export function errorsFile({ components }) {
  const codes = components.schemas.Error.properties.code["x-extensible-enum"];
  const classes = codes.map((code) => {
    const properties = Object.entries(details[code] ?? {}).map(
      ([name, type]) =>
        `\n    @property\n    def ${name}(self) -> ${type}:\n        return cast("${type}", self.details["${name}"])\n`,
    );
    return `class ${className(code)}(ApiError):\n    """The code \`${code}\`."""\n${properties.join("")}`;
  });
  const rows = codes.map((code) => `    "${code}": ${className(code)},\n`);
  return `from __future__ import annotations

from typing import cast

from .errors import ApiError


${classes.join("\n\n")}

ERRORS_BY_CODE: dict[str, type[ApiError]] = {
${rows.join("")}}
`;
}

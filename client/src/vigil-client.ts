import type { FetchFunction } from "./attempt.ts";
import { makeAuditLog, makeCatalog, makeOrganization } from "./catalog.ts";
import { makeCommands } from "./commands.ts";
import { makeDevices, makeEcg, makeLocations, makeTelemetry } from "./devices.ts";
import { type FollowOptions, follow } from "./follow.ts";
import { makeMessages } from "./messages.ts";
import { makeOutboundEvents } from "./outbound-events.ts";
import { makeAssignments, makeInvitations, makeUsers } from "./people.ts";
import { defaultRetryPolicy } from "./retries.ts";
import { makeAlertThresholds, makeEvents, makeGeofences } from "./rules.ts";
import type { Credentials } from "./tokens.ts";
import { makeTransport } from "./transport.ts";

/** The entry of the package: the client, and everything else that partners import. */
export type { FetchFunction } from "./attempt.ts";
export type { SentCommand, SettleOptions } from "./commands.ts";
export { type Deduplication, memoryDeduplication } from "./deduplication.ts";
export { ApiError, ConnectionError, type ErrorDetails, hasCode, TimeoutError, VigilError } from "./errors.ts";
export { type FileCursor, fileCursor } from "./file-cursor.ts";
export type { BatchTarget, EventTarget, Follower, FollowOptions, Gap } from "./follow.ts";
export type { List } from "./lists.ts";
export type { Operations } from "./operations.ts";
export { makeReceiver, type Receiver, type ReceiverAnswer, type ReceiverOptions } from "./receiver.ts";
export {
  expressHandler,
  fastifyWebhook,
  fetchHandler,
  honoHandler,
  nextHandler,
  nodeHandler,
} from "./receiver-handlers.ts";
export type * from "./schemas.ts";
export type { CallOptions } from "./transport.ts";
export type { Download, Upload, UploadSource } from "./uploads.ts";
export { type VerifyOptions, verifyWebhook, type WebhookHeaders, WebhookVerificationError } from "./verify-webhook.ts";

export interface ClientOptions extends Credentials {
  /** For example https://vigil.example.org. */
  baseUrl: string;
  /** For one attempt. Default: 30 seconds. */
  timeoutMs?: number | undefined;
  /** Attempts after the first one. Default: 4. */
  maxRetries?: number | undefined;
  /** A longer Retry-After is not waited for. Default: 60 seconds. */
  maxWaitMs?: number | undefined;
  /** Default: that of the runtime. */
  fetch?: FetchFunction | undefined;
}

const defaultTimeoutMs = 30_000;

export type VigilClient = ReturnType<typeof createClient>;

/** One client per integration; it holds the token and may be used by many calls at a time. */
export function createClient(options: ClientOptions) {
  const { maxRetries = defaultRetryPolicy.maxRetries, maxWaitMs = defaultRetryPolicy.maxWaitMs } = options;
  const { clientId, clientSecret, scopes } = options;
  const transport = makeTransport({
    baseUrl: options.baseUrl,
    credentials: { clientId, clientSecret, scopes },
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    retry: { maxRetries, maxWaitMs },
    userAgent: "vigil-client/0.1.0",
  });
  const outboundEvents = makeOutboundEvents(transport);
  return {
    organization: makeOrganization(transport),
    catalog: makeCatalog(transport),
    users: makeUsers(transport),
    devices: makeDevices(transport),
    assignments: makeAssignments(transport),
    invitations: makeInvitations(transport),
    locations: makeLocations(transport),
    telemetry: makeTelemetry(transport),
    ecg: makeEcg(transport),
    events: makeEvents(transport),
    commands: makeCommands(transport),
    messages: makeMessages(transport),
    geofences: makeGeofences(transport),
    alertThresholds: makeAlertThresholds(transport),
    auditLog: makeAuditLog(transport),
    outboundEvents,
    follow: (followOptions: FollowOptions) => follow(outboundEvents, followOptions),
    /** Any operation by its id, for what has no method of its own. */
    call: transport.call,
  };
}

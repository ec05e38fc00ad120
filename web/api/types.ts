/** The shapes of answers, taken from the schemas that the server validates and serializes with. Nothing is written twice. */
import type { Static } from "@sinclair/typebox";
import type { FormerDevice as FormerDeviceRow } from "../../src/console/devices/former-devices.ts";
import type { LogEntry as OperatorLogRow } from "../../src/console/operator/operator-log.ts";
import type { OperatorServices } from "../../src/console/operator/operator-services.ts";
import type { PoisonedRecord } from "../../src/console/operator/poisoned-list.ts";
import type { ListedGateway, ListedProcess } from "../../src/console/operator/process-store.ts";
import type { FailedJob as FailedJobRow } from "../../src/console/operator/queue-store.ts";
import type { ListedUnknownDevice } from "../../src/console/operator/unknown-device-list.ts";
import type { RateUse } from "../../src/http/rate-limit-store.ts";
import type { Attempt as AttemptRow } from "../../src/outbound/attempt-list.ts";
import type { DeadLetter as DeadLetterRow } from "../../src/outbound/dead-letter-store.ts";
import type { DeliveryHealth as Health } from "../../src/outbound/delivery-health.ts";
import type { EventDetail as LoggedEventRecord } from "../../src/outbound/event-detail.ts";
import type { LogEntry as LogEntryRow } from "../../src/outbound/event-list.ts";
import type { DeviceModel as DeviceModelSchema } from "../../src/resources/catalog/catalog-schemas.ts";
import type { UnknownDevice as UnknownDeviceRow } from "../../src/resources/devices/unknown-device-store.ts";
import type { IntegrationRecord } from "../../src/resources/organizations/integration-record.ts";
import type { OrganizationRecord, toCountedRecord } from "../../src/resources/organizations/organization-record.ts";
import type { SecretTimes } from "../../src/resources/organizations/secret-rotation.ts";
import type { User } from "../../src/resources/users/user-record.ts";

export type { DeviceCapabilityChoice } from "../../src/console/devices/capability-choices.ts";
export type { Acknowledgement, FleetDevice, FleetPage } from "../../src/console/fleet-store.ts";
export type { LinkView, OpenInvitation } from "../../src/console/link-view.ts";
export type { DatabaseSize } from "../../src/console/operator/database-size.ts";
export type { RetryOutcome } from "../../src/console/operator/operator-services.ts";
export type { QueueState } from "../../src/console/operator/queue-store.ts";
export type { WebhookState } from "../../src/console/operator/webhook-list.ts";
export type { HeldDevice, ListedPerson } from "../../src/console/person-list.ts";
export type { FactorState } from "../../src/oauth/second-factor-store.ts";
export type { TestDelivery } from "../../src/outbound/test-event.ts";
export type { Assignment } from "../../src/resources/assignments/assignment-record.ts";
export type { AuditLogEntry, AuditLogEntryDetail } from "../../src/resources/audit/audit-routes.ts";
export type { Capability } from "../../src/resources/catalog/catalog-schemas.ts";
export type { Command } from "../../src/resources/commands/command-record.ts";
export type { Device } from "../../src/resources/devices/device-record.ts";
export type { DeviceConfig } from "../../src/resources/devices/device-settings.ts";
export type { ImportError } from "../../src/resources/devices/import-file.ts";
export type { EcgRecording, EcgRecordingDetail } from "../../src/resources/ecg/ecg-record.ts";
export type { EcgWaveform } from "../../src/resources/ecg/ecg-routes.ts";
export type { Event, EventDetail } from "../../src/resources/events/event-record.ts";
export type { Geofence, GeofenceDetail } from "../../src/resources/geofences/geofence-record.ts";
export type { Invitation } from "../../src/resources/invitations/invitation-record.ts";
export type { Location } from "../../src/resources/locations/location-record.ts";
export type { Segment } from "../../src/resources/locations/segments.ts";
export type { Message } from "../../src/resources/messages/message-record.ts";
export type { Telemetry } from "../../src/resources/telemetry/telemetry-routes.ts";
export type { AlertThreshold } from "../../src/resources/thresholds/threshold-record.ts";
export type { User, UserDetail } from "../../src/resources/users/user-record.ts";

export type DeviceModel = Static<typeof DeviceModelSchema>;

/** A record as it arrives: times are texts. */
type Sent<T> = T extends Date
  ? string
  : T extends readonly (infer U)[]
    ? Sent<U>[]
    : T extends object
      ? { [K in keyof T]: Sent<T[K]> }
      : T;
export type Integration = Sent<IntegrationRecord>;
export type Attempt = Sent<AttemptRow>;
export type DeadLetter = Sent<DeadLetterRow>;
export type ServiceProcess = Sent<ListedProcess>;
export type ServiceGateway = Sent<ListedGateway>;
export type FailedJob = Sent<FailedJobRow>;
export type PoisonedPacket = Sent<PoisonedRecord>;
export type StrayDevice = Sent<ListedUnknownDevice>;
export type OperatorLogEntry = Sent<OperatorLogRow>;
export type OwnOrganization = Sent<OrganizationRecord>;
export type Organization = Sent<ReturnType<typeof toCountedRecord>>;
export type ServiceHealth = Awaited<ReturnType<OperatorServices["checkHealth"]>>;
export type UnknownDevice = Sent<UnknownDeviceRow>;
export type FormerDevice = Sent<FormerDeviceRow>;
export type DeliveryHealth = Sent<Health>;
export type LogEntry = Sent<LogEntryRow>;
export type LoggedEvent = Sent<LoggedEventRecord>;
export type EventAttempt = LoggedEvent["attempts"][number];
export type IntegrationAccess = Sent<SecretTimes & { rate_limits: RateUse[] }>;

/** Secrets as they are shown once, after they were made. */
export interface NewSecrets {
  client_id?: string;
  client_secret?: string;
  webhook_secret?: string | null;
  previous_valid_until?: string | null;
}

export type Role = "VIEWER" | "USER" | "ADMIN" | "OWNER";

/** Who is signed in: a member of an organization, or an operator, who belongs to none. */
export interface Me {
  user: Pick<User, "id" | "email" | "full_name">;
  organization: { name: string; slug: string; timezone: string } | null;
  role: Role | null;
  operator: boolean;
}

export interface Preferences {
  locale: string | null;
  timezone: string | null;
  alarm_mail: "off" | "critical" | "warning";
  organizations: { slug: string; name: string; role: number }[];
}

/** An own session of the person, as `/console/api/sessions/` lists it. */
export interface SessionEntry {
  id: string;
  created_at: string;
  last_used_at: string;
  ip: string;
  user_agent: string;
  current: boolean;
}

export interface Page<T> {
  count?: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

/** Every scope of the partner API with its meaning; the OpenAPI description and the metadata document list exactly these. */
export const scopes = {
  "users:read": "List and get users in the partner organization",
  "users:write": "Create, update and deactivate users",
  "users:invite": "Send portal activation e-mail",
  "devices:read": "List and get devices",
  "devices:write": "Create, update and deactivate devices",
  "assignments:read": "List and get assignments",
  "assignments:write": "Assign and unassign users as OWNER or ASSIGNED",
  "assignments:share": "Share as VIEWER and revoke a share",
  "locations:read": "Location latest and history",
  "telemetry:read": "Telemetry latest and history",
  "ecg:read": "ECG list, detail and waveform",
  "events:read": "Events and alarms",
  "events:acknowledge": "Acknowledge events",
  "commands:read": "Command status",
  "commands:write": "Send commands",
  "messaging:read": "Read device messages",
  "messaging:write": "Send and delete messages",
  "geofences:read": "Read geofences",
  "geofences:write": "Create, update and delete geofences",
  "thresholds:read": "Read alert thresholds",
  "thresholds:write": "Create, update and delete alert thresholds",
  "catalog:read": "Protocols, models and capabilities",
  "invitations:read": "List and get invitations",
  "invitations:write": "Accept and revoke invitations",
  "audit:read": "Audit log",
  "org:read": "Own organization info",
} as const;

export type Scope = keyof typeof scopes;

export const allScopes = Object.keys(scopes) as Scope[];

export const isScope = (text: string): text is Scope => Object.hasOwn(scopes, text);

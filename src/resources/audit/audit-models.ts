/** The kinds of objects in the audit log, with their stable numbers (`content_type`) by name (`model_name`). */
export const auditModels = {
  organization: 1,
  integration: 2,
  user: 3,
  device: 4,
  assignment: 5,
  geofence: 6,
  alertthreshold: 7,
  command: 8,
  devicemessage: 9,
  event: 10,
  invitation: 11,
  devicecapability: 12,
} as const;

export type AuditModel = keyof typeof auditModels;

export const auditModelNames = Object.keys(auditModels) as AuditModel[];

export const auditActions = { created: 0, updated: 1, deleted: 2 } as const;
export type AuditAction = keyof typeof auditActions;

/** Who writes, and in which request. Every store function that changes something takes one; the audit log keeps it. */
export interface Actor {
  organizationId: string;
  by:
    | { type: "partners"; integrationId: string; integrationName: string }
    | { type: "users"; id: string; email: string; fullName: string; via?: "operator" }
    | { type: "system"; via: "cli" | "task" };
  correlationId: string | null;
  remoteAddr: string | null;
}

/** In which request something is done; all null outside of any. */
export type Origin = Pick<Actor, "correlationId" | "remoteAddr">;

/** The integration that acts; undefined for people and for the service itself. */
export const integrationOf = ({ by }: Actor): string | undefined =>
  by.type === "partners" ? by.integrationId : undefined;

/** What the service does by itself, outside of any request. */
export const taskActor = (organizationId: string): Actor => ({
  organizationId,
  by: { type: "system", via: "task" },
  correlationId: null,
  remoteAddr: null,
});

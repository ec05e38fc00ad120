import { type Static, Type } from "@sinclair/typebox";
import type { Tx } from "../../db/database.ts";
import { Uuid } from "../../http/schemas.ts";
import { ApiError, notFound, validationError } from "../../lib/errors.ts";
import type { Actor } from "../../oauth/actor.ts";
import type { OutboundEntry } from "../../outbox/outbound-entry.ts";
import { appendOutbound } from "../../outbox/outbound-log.ts";
import { assignUser } from "../../resources/assignments/assignment-store.ts";
import type { Catalog } from "../../resources/catalog/catalog.ts";
import { readFields } from "../../resources/devices/device-fields.ts";
import { updateDevice } from "../../resources/devices/device-writes.ts";
import { retireDevice } from "../../resources/use-cases/device-removal.ts";

/** A page sends many devices in several calls, and shows after each how far it has come. */
const maxDevices = 100;

const choiceOf = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>({ type: "string", enum: [...values] });

export const BulkAction = Type.Object({
  action: choiceOf(["tag", "untag", "delete", "assign"]),
  uids: Type.Array(Type.String({ pattern: "^\\d{15}$" }), { minItems: 1, maxItems: maxDevices }),
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { minItems: 1, maxItems: 20 })),
  user_id: Type.Optional(Uuid),
  role: Type.Optional(choiceOf(["owner", "assigned"])),
});
type BulkAction = Static<typeof BulkAction>;

export interface ActionResult {
  uid: string;
  ok: boolean;
  /** Why not. */
  code?: string;
  detail?: string;
}

interface Acting {
  organization: { id: string; timezone: string };
  catalog: Catalog;
  actor: Actor;
  now: Date;
}

/** Returns what partners are to be told. */
type Act = (tx: Tx, device: { id: string; tags: string[] }) => Promise<OutboundEntry[]>;

function readAction(body: BulkAction, { organization, catalog, actor, now }: Acting): Act {
  const retag =
    (change: (before: readonly string[]) => string[]): Act =>
    async (tx, { id, tags }) => {
      const given = readFields({ tags: change(tags) }, catalog);
      await updateDevice(tx, id, { organization, given, catalog, actor, now }, false);
      return [];
    };
  switch (body.action) {
    case "tag":
    case "untag": {
      const { tags } = body;
      if (!tags) throw validationError({ tags: ["This field is required."] });
      const named = new Set(tags.map((tag) => tag.trim()));
      return body.action === "tag"
        ? retag((before) => [...new Set([...before, ...named])])
        : retag((before) => before.filter((tag) => !named.has(tag)));
    }
    case "delete":
      return (tx, { id }) => retireDevice(tx, organization.id, id, actor, now);
    case "assign": {
      const { user_id: userId, role = "assigned" } = body;
      if (userId === undefined) throw validationError({ user_id: ["This field is required."] });
      const input = { userId, role, source: "admin" } as const;
      return async (tx, { id }) => {
        await assignUser(tx, organization.id, id, input, actor, now);
        return [];
      };
    }
  }
}

/** Does one thing to each of several devices. What is refused for one of them does not keep it from the others. */
export async function actOnDevices(tx: Tx, body: BulkAction, acting: Acting): Promise<ActionResult[]> {
  const act = readAction(body, acting);
  const results: ActionResult[] = [];
  const outbound: OutboundEntry[] = [];
  // In the order of the ids, so that two such calls never wait for each other.
  for (const uid of [...new Set(body.uids)].toSorted()) {
    results.push(await attempt(tx, uid, acting.organization.id, act, outbound));
  }
  await appendOutbound(tx, outbound, acting.now.getTime());
  return results;
}

async function attempt(
  tx: Tx,
  uid: string,
  organizationId: string,
  act: Act,
  outbound: OutboundEntry[],
): Promise<ActionResult> {
  try {
    const entries = await tx.savepoint(async () => {
      const device = await tx.maybeOne<{ id: string; tags: string[] }>`
        select id, tags from devices
        where organization_id = ${organizationId} and uid = ${uid} and deleted_at is null for update`;
      if (!device) throw notFound();
      return act(tx, device);
    });
    outbound.push(...entries);
    return { uid, ok: true };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { uid, ok: false, code: error.code, detail: reasonOf(error) };
  }
}

/** Of a refusal that names fields, what it says of the first one. */
function reasonOf(error: ApiError): string {
  const fields = Object.values((error.extra.errors ?? {}) as Record<string, string[]>);
  return fields[0]?.[0] ?? error.message;
}

import type { Db } from "../../db/database.ts";
import { type PersonPrincipal, personPrincipal } from "../../http/principal.ts";
import { findRoles } from "../../oauth/standing-store.ts";
import { assignedKey, listAssignedDevices } from "../../resources/assignments/assigned-devices.ts";
import type { LiveStream } from "./live-stream.ts";

const standingOf = ({ id, organization, person, browserSessionId, expiresAtMs }: PersonPrincipal) => ({
  organizationId: organization.id,
  userId: id,
  joinedAt: person.joinedAt,
  passwordChangedAt: person.passwordChangedAt,
  browserSessionId,
  expiresAtMs,
});

/** Gives each stream the role and the devices that its person has now, and returns those whose rights have ended. */
export async function renewRights(db: Db, streams: readonly LiveStream[], now: Date): Promise<LiveStream[]> {
  const roles = await findRoles(
    db,
    streams.map(({ principal }) => standingOf(principal)),
    now,
  );
  const ended: LiveStream[] = [];
  for (const [index, stream] of streams.entries()) {
    const role = roles[index];
    const { person, browserSessionId, expiresAtMs } = stream.principal;
    if (role === undefined) ended.push(stream);
    else if (role !== person.role) {
      stream.principal = personPrincipal({ ...person, role }, { browserSessionId, expiresAtMs });
    }
  }
  const limited = streams.filter((stream) => !stream.seesAll);
  if (limited.length === 0) return ended;
  const people = limited.map(({ organizationId, principal }) => ({ organizationId, userId: principal.id }));
  const devices = await listAssignedDevices(db, people);
  for (const [index, stream] of limited.entries()) {
    const person = people[index];
    stream.deviceIds = (person && devices.get(assignedKey(person))) ?? new Set();
  }
  return ended;
}

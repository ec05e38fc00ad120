import type { Db } from "../../db/database.ts";
import { groupBy } from "../../lib/group-by.ts";
import { type Frame, readFrames } from "./change-frames.ts";
import { findFloor, listMissedChanges } from "./change-store.ts";
import type { LiveStream } from "./live-stream.ts";

/** A reader that has missed more reads everything again: that is cheaper for both sides. */
const maxMissed = 1000;

/** The position of a reader who comes back; undefined for one that we never gave. */
function positionOf({ lastEventId }: LiveStream, untilSeq: number): number | undefined {
  const position = /^\d{1,15}$/.test(lastEventId ?? "") ? Number(lastEventId) : undefined;
  return position !== undefined && position <= untilSeq ? position : undefined;
}

/** What streams with a Last-Event-ID have missed up to a position. They often come back together, so each organization is read once. */
export async function readMissed(
  db: Db,
  streams: readonly LiveStream[],
  untilSeq: number,
): Promise<Map<LiveStream, readonly Frame[] | "resync">> {
  const missed = new Map<LiveStream, readonly Frame[] | "resync">();
  const returning = streams.filter(({ lastEventId }) => lastEventId !== undefined && lastEventId !== "");
  for (const [organizationId, group] of groupBy(returning, (stream) => stream.organizationId)) {
    const floor = await findFloor(db, organizationId);
    const known = group.flatMap((stream) => {
      const position = positionOf(stream, untilSeq);
      return position === undefined || position < floor ? [] : [{ stream, position }];
    });
    for (const stream of group) missed.set(stream, "resync");
    if (known.length === 0) continue;
    const after = known.reduce((lowest, { position }) => Math.min(lowest, position), untilSeq);
    const changes = await listMissedChanges(db, organizationId, { after, untilSeq, limit: maxMissed + 1 });
    // Beyond the limit the oldest change that was read stands for those that were not.
    const oldest = changes.length > maxMissed ? (changes.shift()?.seq ?? 0) : after;
    const frames = await readFrames(db, changes);
    for (const { stream, position } of known) {
      if (position >= oldest) {
        missed.set(
          stream,
          frames.filter(({ seq }) => seq > position),
        );
      }
    }
  }
  return missed;
}

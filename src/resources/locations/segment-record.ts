import { Type } from "@sinclair/typebox";
import { dateTimeParam, integerParam } from "../../http/query-params.ts";
import { describedAs, Nullable, refTo, Timestamp } from "../../http/schemas.ts";
import { validationError } from "../../lib/errors.ts";
import type { Segment, Window } from "./segments.ts";

const times = {
  start_ts: Timestamp,
  end_ts: Nullable(Type.String({ format: "date-time", description: "Null while the segment is ongoing." })),
  duration_seconds: Type.Integer({ description: "Counted up to `to` while the segment is ongoing." }),
  ongoing: Type.Boolean(),
  distance_m: Type.Integer(),
  point_count: Type.Integer({ description: "Neighbouring segments share the point between them." }),
};

const position = { lat: Type.Number(), lng: Type.Number() };
const SegmentCenter = Type.Object(position, { $id: "SegmentCenter" });
const SegmentPlace = Type.Object({ ...position, address: Nullable(Type.String()) }, { $id: "SegmentPlace" });

const MovingSegment = Type.Object(
  {
    type: Type.Unsafe<"moving">({ type: "string", enum: ["moving"] }),
    ...times,
    avg_speed_kmh: Type.Number(),
    max_speed_kmh: Type.Number(),
    start: refTo(SegmentPlace),
    end: refTo(SegmentPlace),
    polyline: Type.String({ description: "Encoded polyline, precision 5." }),
  },
  { $id: "MovingSegment" },
);

const StoppedSegment = Type.Object(
  {
    type: Type.Unsafe<"stopped">({ type: "string", enum: ["stopped"] }),
    ...times,
    center: refTo(SegmentCenter),
    radius_m: Type.Integer(),
    address: Nullable(Type.String()),
  },
  { $id: "StoppedSegment" },
);

const kinds = [refTo(MovingSegment), refTo(StoppedSegment)];
/** For the description: the serializer does not know discriminators. */
const DeviceSegment = Type.Unsafe<Segment>({
  $id: "DeviceSegment",
  oneOf: kinds,
  discriminator: {
    propertyName: "type",
    mapping: { moving: "#/components/schemas/MovingSegment", stopped: "#/components/schemas/StoppedSegment" },
  },
});

export const DeviceSegments = Type.Object(
  {
    device_uid: Type.String(),
    from: Timestamp,
    to: Timestamp,
    segments: Type.Array(describedAs(Type.Unsafe<Segment>({ oneOf: kinds }), refTo(DeviceSegment)), {
      description: "In time order.",
    }),
  },
  { $id: "DeviceSegments" },
);

export const segmentQuery = {
  ts_after: dateTimeParam("Start of the window; by default 6 hours before its end."),
  ts_before: dateTimeParam("End of the window; by default now."),
  min_stop_seconds: integerParam("Minimum duration of a stop, 60 to 86400 seconds; 180 by default.", {
    low: 60,
    high: 86_400,
  }),
};

const defaultWindowMs = 6 * 3_600_000;
const maxWindowMs = 7 * 86_400_000;

export function readWindow(given: { ts_after?: Date; ts_before?: Date }, nowMs: number): Window {
  const toMs = given.ts_before?.getTime() ?? nowMs;
  const fromMs = given.ts_after?.getTime() ?? toMs - defaultWindowMs;
  if (fromMs >= toMs) throw validationError({ ts_after: ["Ensure this time is before the end of the window."] });
  if (toMs - fromMs > maxWindowMs) throw validationError({ ts_after: ["Ensure the window is at most 7 days long."] });
  return { fromMs, toMs };
}

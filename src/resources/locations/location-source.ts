import { StringEnum } from "../../http/schemas.ts";

/** Where a position comes from (section 5). */
export const LocationSource = StringEnum("LocationSourceEnum", ["gps", "wifi", "lbs", "manual", "fused", "unknown"]);

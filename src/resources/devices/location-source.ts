import { StringEnum } from "../../http/schemas.ts";

export const locationSources = ["gps", "wifi", "lbs", "manual", "fused", "unknown"] as const;

/** Where a position comes from (section 5). */
export const LocationSource = StringEnum("LocationSourceEnum", locationSources);

/** Feature flags that an organization can have; `messaging` is an opt-in of each integration and not one of them. */
export const organizationFeatures = ["geofence_scoping", "managed_onboarding", "pin_sim"] as const;
export type OrganizationFeature = (typeof organizationFeatures)[number];

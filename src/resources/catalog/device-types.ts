/** What a device is to people, whatever protocol it speaks. */
export const deviceTypes = ["watch", "tracker", "pendant", "phone", "other"] as const;

export type DeviceTypeName = (typeof deviceTypes)[number];

import { onClient } from "../db/database.ts";
import { dropDeviceCode, storeDeviceCode } from "../resources/devices/device-codes.ts";
import { type BatchStep, byDeviceId } from "./batch-step.ts";

/** The code of a device is stored with the packet that asked for it, and only then sent. */
export const deviceCodes: BatchStep = async (client, packets, _rows, nowMs) => {
  const found = packets.flatMap(({ hold, messages }) =>
    messages.flatMap((message) => (message.kind === "authentication" ? [{ hold, code: message.code }] : [])),
  );
  if (found.length === 0) return;
  const db = onClient(client);
  for (const { hold, code } of found.toSorted(byDeviceId)) {
    const { id, organizationId } = hold.device;
    if (code === null) await dropDeviceCode(db, organizationId, id);
    else await storeDeviceCode(db, organizationId, id, code, new Date(nowMs));
  }
};

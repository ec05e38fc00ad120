import type { Tx } from "../db/database.ts";
import { notify } from "../db/listener.ts";

/** The channel that tells every process that what it has cached of tokens, integrations or organizations is out of date. */
export const identityChannel = "vigil_identity";

/** Must be called in every transaction that changes an organization, an integration, its secrets or its tokens. */
export const announceIdentityChange = (tx: Tx): Promise<number> => notify(tx, identityChannel, "all");

export const announceTokenRevoked = (tx: Tx, tokenHash: Buffer): Promise<number> =>
  notify(tx, identityChannel, `token:${tokenHash.toString("hex")}`);

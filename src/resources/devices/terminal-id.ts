import { rulesOf } from "../../codecs/protocols.ts";

/** The id that a device sends when it does not send its IMEI (section 3.2): its default, and what becomes of it in a write. */

/** Null: devices of this protocol send their IMEI. */
export const defaultTerminalId = (uid: string, protocolSlug: string): string | null =>
  rulesOf(protocolSlug).terminalIds.defaultFor(uid);

/** What terminal ids are compared by. */
export const terminalKey = (protocolSlug: string, terminalId: string): string =>
  rulesOf(protocolSlug).terminalIds.compareKey(terminalId);

export interface TerminalState {
  protocol_slug: string;
  terminal_id: string | null;
}

/**
 * The id that a write stores. `sent` undefined: the call does not speak of it. A value sent back unchanged says no more than
 * that, so a record that is read, moved to another model and sent back still gets the default of its new protocol.
 */
export function chooseTerminalId(
  uid: string,
  before: TerminalState | undefined,
  protocolSlug: string,
  sent: string | null | undefined,
  isFull: boolean,
): string | null {
  const ownDefault = defaultTerminalId(uid, protocolSlug);
  if (sent !== undefined && sent !== before?.terminal_id) return sent;
  if (before === undefined || (isFull && sent === undefined)) return ownDefault;
  if (before.protocol_slug === protocolSlug) return before.terminal_id;
  const wasChosen = before.terminal_id !== null && before.terminal_id !== defaultTerminalId(uid, before.protocol_slug);
  return wasChosen ? before.terminal_id : ownDefault;
}

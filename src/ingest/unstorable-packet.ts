/** A value that a packet holds cannot be stored, whatever is tried: the packet is to blame, and not the program. */
export class UnstorablePacket extends Error {}

const minPackets = 40;
const maxPackets = 200;

/**
 * So many packets must wait for a second transaction to begin beside one of so many: then this process works while the database
 * does, and the other way round. With fewer it would only make transactions smaller, which cost more and are answered no sooner.
 */
export const packetsForSecondBatch = (inFirst: number): number => Math.min(maxPackets, Math.max(minPackets, inFirst));

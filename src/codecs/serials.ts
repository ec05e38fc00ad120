/** Serials by the width of the wire. Commands have even sequence numbers and messages odd ones, so that they never meet. */

/** Six decimal digits: commands in the lower half, messages in the upper one. */
export const sixDigitSerial = (sequence: number): string =>
  String((Math.floor(sequence / 2) % 500_000) + (sequence % 2) * 500_000).padStart(6, "0");

/** A decimal number that fits 16 bits. */
export const sixteenBitSerial = (sequence: number): string => String(sequence % 0x1_0000);

/** A decimal number that fits 32 bits. */
export const thirtyTwoBitSerial = (sequence: number): string => String(sequence % 0x1_0000_0000);

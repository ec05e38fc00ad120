/** Six decimal digits of the lower half: messages number themselves in the upper one. */
export const sixDigitSerial = (sequence: number): string => String(sequence % 500_000).padStart(6, "0");

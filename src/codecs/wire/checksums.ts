/** All bytes combined with exclusive or. */
export function xor8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum ^= byte;
  return sum;
}

/** The low eight bits of the sum of all bytes. */
export function sum8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum + byte) & 0xff;
  return sum;
}

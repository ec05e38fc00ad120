/** The cyclic redundancy checks of trackers, over all bytes given. */

/** CRC-16/X-25, also called ITU: polynomial 1021 reflected, starts and ends inverted. */
export const crc16X25 = (bytes: Uint8Array): number => ~reflected(bytes, x25Table, 0xffff) & 0xffff;

/** CRC-16/ARC, also called IBM: polynomial 8005 reflected, starts with zero. */
export const crc16Arc = (bytes: Uint8Array): number => reflected(bytes, arcTable, 0);

/** CRC-16/XMODEM: polynomial 1021, most significant bit first, starts with zero. */
export const crc16Xmodem = (bytes: Uint8Array): number => forward(bytes, 0);

/** CRC-16/CCITT-FALSE: as XMODEM, starts with all bits set. */
export const crc16CcittFalse = (bytes: Uint8Array): number => forward(bytes, 0xffff);

function forward(bytes: Uint8Array, start: number): number {
  let crc = start;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (xmodemTable[(crc >> 8) ^ byte] as number);
  return crc;
}

function reflected(bytes: Uint8Array, table: Uint16Array, start: number): number {
  let crc = start;
  for (const byte of bytes) crc = (crc >> 8) ^ (table[(crc ^ byte) & 0xff] as number);
  return crc;
}

const reflectedStep = (polynomial: number) => (crc: number) => (crc & 1 ? (crc >> 1) ^ polynomial : crc >> 1);
const forwardStep = (polynomial: number) => (crc: number) =>
  (crc & 0x8000 ? (crc << 1) ^ polynomial : crc << 1) & 0xffff;

function tableOf(step: (crc: number) => number, shift: number): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) => {
    let crc = byte << shift;
    for (let bit = 0; bit < 8; bit++) crc = step(crc);
    return crc;
  });
}

const x25Table = tableOf(reflectedStep(0x8408), 0);
const arcTable = tableOf(reflectedStep(0xa001), 0);
const xmodemTable = tableOf(forwardStep(0x1021), 8);

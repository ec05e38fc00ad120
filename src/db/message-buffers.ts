/**
 * Large buffers for messages to the database, used again once the server has answered. Made anew for every batch they were 29 MB a
 * second at 5,000 packets, and V8 counts what lies beside its heap: with much of it, it collects the old generation again and again.
 */
const smallestBits = 13;
const largestBits = 22;
const maxKeptBytes = 8 * 1024 * 1024;

interface Kept {
  /** By size. */
  readonly free: Buffer[][];
  bytes: number;
}

/** Weakly: any collection of the old generation may take them all, so that a process at rest keeps none. */
let keptOnes: WeakRef<Kept> | undefined;

function kept(): Kept {
  const known = keptOnes?.deref();
  if (known) return known;
  const made: Kept = { free: Array.from({ length: largestBits + 1 }, () => []), bytes: 0 };
  keptOnes = new WeakRef(made);
  return made;
}

const bitsOf = (bytes: number): number => Math.max(smallestBits, 32 - Math.clz32(bytes - 1));

/** With at least so many bytes, which say what they said last. */
export function takeBuffer(bytes: number): Buffer {
  if (bytes > 1 << largestBits) return Buffer.allocUnsafeSlow(bytes);
  const bits = bitsOf(bytes);
  const store = kept();
  const buffer = store.free[bits]?.pop();
  if (!buffer) return Buffer.allocUnsafeSlow(1 << bits);
  store.bytes -= buffer.length;
  return buffer;
}

/** Of a buffer that was taken here, and that nobody reads or writes any longer. */
export function giveBuffer(buffer: Buffer): void {
  const store = kept();
  if (buffer.length > 1 << largestBits || store.bytes + buffer.length > maxKeptBytes) return;
  store.free[bitsOf(buffer.length)]?.push(buffer);
  store.bytes += buffer.length;
}

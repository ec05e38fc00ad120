import { expect, test } from "vitest";
import { giveBuffer, takeBuffer } from "./message-buffers.ts";

const megabyte = 2 ** 20;

test("a buffer that was given back is taken again for as much, and for nothing that needs more", () => {
  const first = takeBuffer(10_000);
  expect(first).toHaveLength(16_384);
  giveBuffer(first);
  expect(takeBuffer(16_385)).toHaveLength(32_768);
  expect(takeBuffer(9000) === first).toBe(true);
  expect(takeBuffer(9000) === first).toBe(false);
});

test("buffers are kept up to a bound, and very large ones never", () => {
  const huge = takeBuffer(5 * megabyte);
  expect(huge).toHaveProperty("length", 5 * megabyte);
  giveBuffer(huge);
  expect(takeBuffer(5 * megabyte) === huge).toBe(false);
  const buffers = [1, 2, 3].map(() => takeBuffer(4 * megabyte));
  for (const buffer of buffers) giveBuffer(buffer);
  const again = [1, 2, 3].map(() => takeBuffer(4 * megabyte));
  expect(again.filter((buffer) => buffers.includes(buffer)).length).toBeLessThan(3);
});

import { setFlagsFromString } from "node:v8";

/**
 * Where V8 sees objects outlive two collections of the young generation, it makes those that follow old from the start, and does not
 * look again. A packet lives that long whenever the database or the disk is slow for a moment. From then on positions of all packets
 * were made old, though they live for milliseconds, and stayed until the next large collection (measured). So all objects begin
 * young here.
 */
const youngObjects = "--no-allocation-site-pretenuring";

/**
 * Once V8 has saved memory at rest, it lets the old generation grow by no more than a third before it collects it again. With 41 MB
 * in use that was every 20 seconds at half load, and each time turns of the event loop take 10 to 15 ms for a tenth of a second
 * (measured). With this it may grow to two and a half times of that. What is left at rest is collected then (`heap-at-rest.ts`).
 */
const rareCollections = "--heap-growing-percent=150";

/** For this process; V8 looks at them again and again, so that they count although it runs already. */
export function setHeapFlags(): void {
  setFlagsFromString(youngObjects);
  setFlagsFromString(rareCollections);
}

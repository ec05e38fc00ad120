import { setFlagsFromString } from "node:v8";

/**
 * Where V8 sees objects outlive two collections of the young generation, it makes those that follow old from the start, and does not
 * look again. A packet lives that long whenever the database or the disk is slow for a moment. From then on positions of all packets
 * were made old, though they live for milliseconds, and stayed until the next large collection (measured). So all objects begin
 * young here.
 */
export const beginYoung = (): void => setFlagsFromString("--no-allocation-site-pretenuring");

/** The file is no sound of an accepted format, or damaged. */
export class NotAudio extends Error {}
/** The sound is longer than its device takes. */
export class TooLong extends Error {}

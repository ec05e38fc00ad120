/**
 * Thrown by the readers of a protocol, caught by the stream decoder: the frame is skipped and counted. Not an Error: a hostile
 * stream makes tens of thousands of them, and the stack of each would cost more than the rest of decoding.
 */
export class MalformedFrame {
  readonly reason: string;
  /** Where inside the frame decoding resumes; after the frame when undefined. */
  readonly resumeAt: number | undefined;

  constructor(reason: string, resumeAt?: number) {
    this.reason = reason;
    this.resumeAt = resumeAt;
  }
}

import { NotAudio, TooLong } from "./audio-refusals.ts";

export const maxChannels = 8;
export const [minRate, maxRate] = [4000, 384_000];
/** Headers round, and count padding that is cut later: the decoded sound decides where it is close. */
const slackSeconds = 1;

export interface DeclaredSound {
  channels?: number | undefined;
  rate?: number | undefined;
  seconds?: number | undefined;
}

/** Throws NotAudio for a header that no recording has, and TooLong for one that is longer than allowed. */
export function checkDeclared({ channels, rate, seconds }: DeclaredSound, maxSeconds: number): void {
  if (channels !== undefined && !(channels >= 1 && channels <= maxChannels)) throw new NotAudio();
  if (rate !== undefined && !(rate >= minRate && rate <= maxRate)) throw new NotAudio();
  if (seconds !== undefined && seconds > maxSeconds + slackSeconds) throw new TooLong();
}

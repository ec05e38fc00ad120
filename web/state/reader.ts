import { makeStore, type Store } from "./store.ts";

const retryMs = 5000;

export interface Reader {
  /** Why the last attempt failed; it is tried again until it works. */
  failure: Store<unknown>;
  run(): Promise<void>;
  stop(): void;
}

/** Reads something until it has worked. Whoever asks meanwhile begins anew; the attempt before it is told by `isCurrent`. */
export function makeReader(read: (isCurrent: () => boolean) => Promise<void>): Reader {
  const failure = makeStore<unknown>(undefined);
  let round = 0;
  return {
    failure,
    async run() {
      round++;
      const own = round;
      const isCurrent = (): boolean => own === round;
      while (isCurrent()) {
        try {
          await read(isCurrent);
          if (isCurrent()) failure.set(undefined);
          return;
        } catch (error) {
          if (isCurrent()) failure.set(error);
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
    },
    stop() {
      round++;
      failure.set(undefined);
    },
  };
}

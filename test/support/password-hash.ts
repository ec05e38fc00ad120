import { hash } from "@node-rs/argon2";

/** The password of all test people. */
export const password = "correct horse battery";

let made: Promise<string> | undefined;

/** The cost of checking a password stands in its hash: a cheap one, made once, makes the hundreds of sign-ins of the tests cheap. */
export function cheapPasswordHash(): Promise<string> {
  made ??= hash(password, { memoryCost: 64, timeCost: 1, parallelism: 1 });
  return made;
}

import { hash, verify } from "@node-rs/argon2";

/** What NIST SP 800-63B asks for at least; the contract names no other bound. */
export const minPasswordLength = 8;
/** A bound on the work a caller can ask for; no phrase that a person types is longer. */
export const maxPasswordLength = 1024;

// Argon2id is the library's default algorithm; the costs are OWASP's first recommendation and are stored in the hash itself.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const isAcceptablePassword = (password: string): boolean =>
  [...password].length >= minPasswordLength && password.length <= maxPasswordLength;

/** NFKC, because the same password typed on two systems may arrive composed or decomposed. */
export const hashPassword = (password: string): Promise<string> => hash(password.normalize("NFKC"), cost);

export const verifyPassword = (passwordHash: string, password: string): Promise<boolean> =>
  verify(passwordHash, password.normalize("NFKC"));

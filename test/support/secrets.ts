import { makeSecretBox } from "../../src/lib/secret-box.ts";

/** The one key of all tests. */
export const testSecrets = makeSecretBox(Buffer.alloc(32, 7));

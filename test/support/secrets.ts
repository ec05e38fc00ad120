import { makeSecretBox } from "../../src/lib/secret-box.ts";

const key = Buffer.alloc(32, 7);

/** The one key of all tests. */
export const testSecrets = makeSecretBox(key);

/** The content of VIGIL_SECRET_KEY_FILE for processes that read what tests have sealed. */
export const testSecretKeyText = `${key.toString("base64")}\n`;

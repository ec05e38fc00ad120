import { readFile } from "node:fs/promises";
import { isWebhookSecret } from "../resources/organizations/webhook-secret.ts";
import { type CommandContext, CommandError, UsageError } from "./command.ts";

const expectation = 'must be "whsec_" and 24 to 64 bytes in Base64';

/**
 * The webhook secret that the operator gives; undefined: none. A file, stdin and the environment are for machines with other users,
 * who see the arguments of every process. No message repeats the secret.
 */
export async function readWebhookSecret(context: CommandContext): Promise<string | undefined> {
  const { args, config } = context;
  const [secret, file] = [args.value("secret"), args.value("secret-file")];
  if (secret !== undefined && file !== undefined) throw new UsageError("--secret and --secret-file exclude each other");
  if (secret !== undefined) return checkSecret(secret, "--secret", UsageError);
  if (file === undefined) {
    return config.webhookSecret && checkSecret(config.webhookSecret, "VIGIL_WEBHOOK_SECRET", CommandError);
  }
  const text = file === "-" ? await context.io.readStdin() : await readSecretFile(file);
  return checkSecret(text.trim(), file === "-" ? "the secret on stdin" : `the secret in ${file}`, CommandError);
}

function checkSecret(secret: string, source: string, Failure: typeof UsageError | typeof CommandError): string {
  if (!isWebhookSecret(secret)) throw new Failure(`${source} ${expectation}`);
  return secret;
}

async function readSecretFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CommandError(`cannot read the secret in ${file} (${code}): give a file that you may read`);
  }
}

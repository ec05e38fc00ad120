import { hashPassword, isAcceptablePassword, maxPasswordLength, minPasswordLength } from "../oauth/passwords.ts";
import { type CommandContext, CommandError } from "./command.ts";

/** The hash of the password on stdin; null: none was announced. An operator may choose one that a person may not. */
export async function passwordFromStdin({ args, io, note }: CommandContext): Promise<string | null> {
  if (!args.has("password-stdin")) return null;
  const password = (await io.readStdin()).replace(/\r?\n$/, "");
  if (password === "" || password.length > maxPasswordLength) {
    throw new CommandError(`the password on stdin must have 1 to ${maxPasswordLength} characters: choose another`);
  }
  if (!isAcceptablePassword(password)) {
    note(`The password is short: people themselves must choose at least ${minPasswordLength} characters.`);
  }
  return hashPassword(password);
}

import { type CommandContext, CommandError, type Option } from "./command.ts";

export const yesOption: Option = { name: "yes", summary: "do not ask" };

/**
 * Says what cannot be undone and waits for the word that names it: a habit of typing "y" confirms anything. Does not return unless
 * it was typed or --yes was given.
 */
export async function confirm({ args, io, note }: CommandContext, what: string, word: string): Promise<void> {
  if (args.has("yes")) return;
  note(`${what}\nThis cannot be undone. Type ${word} to go on:`);
  const typed = (await (io.readLine ?? io.readStdin)()).split("\n")[0]?.trim();
  if (typed !== word) throw new CommandError("not confirmed: nothing was changed; --yes goes on without asking");
}

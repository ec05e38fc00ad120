import type { Command, Identity, React } from "./device-protocol.ts";
import type { Tally } from "./tally.ts";

/** What a watch makes of commands: it obeys, unless a test wants it to be stubborn or slow. */
export class Orders {
  readonly #self: Identity;
  readonly #react: React;
  readonly #tally: Tally;
  /** To be obeyed late, the next one first. */
  #late: { command: Command; dueMs: number }[] = [];

  constructor(self: Identity, react: React, tally: Tally) {
    this.#self = self;
    this.#react = react;
    this.#tally = tally;
  }

  get dueMs(): number {
    return this.#late[0]?.dueMs ?? Number.POSITIVE_INFINITY;
  }

  /** What to write and what to do now. */
  hear(command: Command, nowMs: number): Pick<Command, "acks" | "effect"> {
    this.#tally.commands++;
    const reaction = this.#react(command, this.#self);
    if (reaction === "obey") return command;
    this.#tally.defied++;
    if (typeof reaction === "object") {
      this.#late.push({ command, dueMs: nowMs + reaction.afterMs });
      this.#late.sort((a, b) => a.dueMs - b.dueMs);
    }
    return { acks: reaction === "refuse" ? command.refusals : [], effect: undefined };
  }

  takeDue(nowMs: number): Command | undefined {
    return nowMs >= this.dueMs ? this.#late.shift()?.command : undefined;
  }

  /** With the connection. */
  forget(): void {
    this.#late = [];
  }
}

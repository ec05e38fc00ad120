import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { loadCommandsFor } from "./cli/commands.ts";
import { runCommandLine } from "./cli/run.ts";

// A reader that has seen enough (`vigil org list | head -1`) closes the pipe; that is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

const argv = process.argv.slice(2);
const code = await runCommandLine(argv, await loadCommandsFor(argv), {
  stdout: (output) => process.stdout.write(output),
  stderr: (output) => process.stderr.write(output),
  readStdin: () => text(process.stdin),
  readLine: async () => {
    for await (const line of createInterface({ input: process.stdin })) return line;
    return "";
  },
});

// Leaves once the output is out, and does not wait for what may still be open, like the lookup of a name that nobody answers.
process.stdout.write("", () => process.exit(code));

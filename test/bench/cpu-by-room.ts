import { readFileSync } from "node:fs";

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  timeDeltas: number[];
  /** On the clock of `process.hrtime`. */
  startTime: number;
}

/** The shares of a CPU profile by room of the program, by package, and by what Node itself does, between two times. */
export function cpuByRoom(file: string, span: { fromUs: number; toUs: number }): [room: string, share: number][] {
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(readFileSync(file, "utf8")) as Profile;
  const roomOf = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  let atUs = startTime;
  for (const [index, id] of samples.entries()) {
    const room = roomOf.get(id) ?? "unknown";
    atUs += timeDeltas[index] ?? 0;
    if (atUs >= span.fromUs && atUs <= span.toUs && room !== "(idle)")
      times.set(room, (times.get(room) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const sum = [...times.values()].reduce((all, time) => all + time, 0);
  return [...times].map(([room, time]): [string, number] => [room, time / sum]).sort((a, b) => b[1] - a[1]);
}

function nameOf({ functionName, url }: Profile["nodes"][number]["callFrame"]): string {
  const [, inPackage] = url.split("/node_modules/");
  if (inPackage)
    return inPackage
      .split("/")
      .slice(0, inPackage.startsWith("@") ? 2 : 1)
      .join("/");
  const [, own] = url.split("/dist/");
  if (own)
    return `src/${
      own.includes("/")
        ? own
            .split("/")
            .slice(0, own.startsWith("codecs") ? 2 : 1)
            .join("/")
        : ""
    }`;
  if (url.startsWith("node:")) return `node ${url.slice(5).split("/").slice(0, 2).join("/")}`;
  // Without a file: what is native, such as writev, and the collector.
  return functionName;
}

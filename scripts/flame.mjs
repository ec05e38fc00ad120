#!/usr/bin/env node
/**
 * Draws a CPU profile of Node as a flame picture: `node scripts/flame.mjs FILE.cpuprofile [SECONDS] > flame.svg`. Wide is dear; what
 * stands above was called from below. Only the last seconds are drawn where they are given: starting is not what costs.
 */
import { readFileSync } from "node:fs";

const [file, seconds] = process.argv.slice(2);
if (!file) {
  process.stderr.write("flame: name a .cpuprofile, and perhaps how many of its last seconds count\n");
  process.exit(2);
}

const width = 1200;
const rowHeight = 15;
const charWidth = 6;
/** Narrower ones cannot be seen. */
const minShare = 0.0015;
const colours = [
  [/\/src\/|\/dist\//, "#e8a33d"],
  [/node_modules/, "#8fb3d9"],
  [/^node:/, "#b5c7a3"],
  [/^$/, "#c9c0b8"],
];

const { nodes, samples, timeDeltas, endTime, startTime } = JSON.parse(readFileSync(file, "utf8"));
const fromUs = seconds ? endTime - Number(seconds) * 1e6 : 0;
const byId = new Map(nodes.map((node) => [node.id, node]));
const parentOf = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));

const nameOf = ({ functionName, url }) => {
  const [, path] = /\/(?:dist|src|node_modules)\/(.*?)(?:\?.*)?$/.exec(url) ?? [undefined, url.split("/").at(-1)];
  return `${functionName || "(anonymous)"}${path ? ` ${path}` : ""}`;
};

/** The functions that a sample was in, the outermost first. */
function stackOf(id) {
  const stack = [];
  for (let at = id; at !== undefined; at = parentOf.get(at)) stack.unshift(byId.get(at).callFrame);
  return stack.slice(1);
}

const makeFrame = (frame) => ({ name: nameOf(frame), url: frame.url, us: 0, called: new Map() });
const all = makeFrame({ functionName: "all", url: "" });
let atUs = startTime;
for (const [index, id] of samples.entries()) {
  const us = timeDeltas[index];
  atUs += us;
  const stack = stackOf(id);
  if (atUs < fromUs || stack.at(-1)?.functionName === "(idle)") continue;
  let frame = all;
  frame.us += us;
  for (const callFrame of stack) {
    const name = nameOf(callFrame);
    if (!frame.called.has(name)) frame.called.set(name, makeFrame(callFrame));
    frame = frame.called.get(name);
    frame.us += us;
  }
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const boxes = [];
let deepest = 0;

function draw({ name, url, us, called }, left, depth) {
  const share = us / all.us;
  if (share < minShare) return;
  deepest = Math.max(deepest, depth);
  boxes.push({ name, url, share, left, depth });
  let at = left;
  for (const child of [...called.values()].sort((a, b) => b.us - a.us)) {
    draw(child, at, depth + 1);
    at += child.us / all.us;
  }
}
draw(all, 0, 0);

const height = (deepest + 1) * rowHeight;
const lines = boxes.map(({ name, url, share, left, depth }) => {
  const [x, w, y] = [left * width, share * width, height - (depth + 1) * rowHeight];
  const fill = colours.find(([pattern]) => pattern.test(url))?.[1] ?? "#c9c0b8";
  const label = escaped(name.slice(0, Math.floor(w / charWidth)));
  const title = `<title>${escaped(name)}: ${(share * 100).toFixed(1)} %</title>`;
  const box = `<rect x="${x.toFixed(1)}" y="${y}" width="${w.toFixed(1)}" height="${rowHeight - 1}" fill="${fill}"/>`;
  const text = w < 4 * charWidth ? "" : `<text x="${(x + 2).toFixed(1)}" y="${y + 11}">${label}</text>`;
  return `<g>${title}${box}${text}</g>`;
});
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="10">\n<title>Where the CPU time goes</title>
${lines.join("\n")}
</svg>
`);

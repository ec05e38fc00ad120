import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { Pool } from "undici";

/** The raw limit of webhook push: a client that signs and posts ready bodies. Arguments: URL, CA file, count, in flight. */
const [url = "", caFile = "", count = "0", inFlight = "32"] = process.argv.slice(2);
const { origin, pathname } = new URL(url);
const pool = new Pool(origin, { connections: Number(inFlight), connect: { ca: readFileSync(caFile) } });
const body = Buffer.alloc(700, "x");
let begun = 0;
async function run(): Promise<void> {
  while (begun++ < Number(count)) {
    const signature = createHmac("sha256", "secret").update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-signature": `sha256=${signature}` };
    const answer = await pool.request({ path: pathname, method: "POST", headers, body });
    await answer.body.dump();
  }
}
const startedMs = performance.now();
await Promise.all(Array.from({ length: Number(inFlight) }, run));
console.log(JSON.stringify({ perSecond: Number(count) / ((performance.now() - startedMs) / 1000) }));
await pool.close();

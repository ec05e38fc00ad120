// Asks the ops port on the loopback of the container: node probe.mjs healthz|readyz. Exit code 0: all is well.
const [, , path = "readyz"] = process.argv;
const port = process.env.VIGIL_OPS_PORT || "9090";
try {
  const answer = await fetch(`http://127.0.0.1:${port}/${path}`, { signal: AbortSignal.timeout(4000) });
  process.exit(answer.ok ? 0 : 1);
} catch {
  process.exit(1);
}

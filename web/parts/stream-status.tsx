import { useEffect, useState } from "preact/hooks";
import type { Stream, StreamState } from "../api/stream.ts";
import { common } from "../texts/common.ts";

/** Says in plain sight whether what one sees is live. */
export function StreamStatus({ stream }: { stream: Stream | undefined }) {
  const [state, setState] = useState<StreamState>(stream?.state.get() ?? "connecting");
  useEffect(() => {
    if (!stream) return undefined;
    setState(stream.state.get());
    return stream.state.subscribe(() => setState(stream.state.get()));
  }, [stream]);
  const word = state === "live" ? "live" : state === "lost" ? "lost" : "connecting";
  return (
    <p class={`stream ${state}`} role="status" title={state === "lost" ? common("lostHint") : undefined}>
      {common(word)}
    </p>
  );
}

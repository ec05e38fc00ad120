import { useEffect, useState } from "preact/hooks";
import type { Stream, StreamState } from "../api/stream.ts";
import { common } from "../texts/common.ts";

interface StreamProps {
  stream: Stream | undefined;
}

function useStreamState(stream: Stream | undefined): StreamState {
  const [state, setState] = useState<StreamState>(stream?.state.get() ?? "connecting");
  useEffect(() => {
    if (!stream) return undefined;
    setState(stream.state.get());
    return stream.state.subscribe(() => setState(stream.state.get()));
  }, [stream]);
  return state;
}

/** Says whether what one sees is live. */
export function StreamStatus({ stream }: StreamProps) {
  const state = useStreamState(stream);
  return (
    <p class={`stream ${state}`} role="status">
      {common(state)}
    </p>
  );
}

/** In plain sight over the page while the connection is lost. */
export function LostNotice({ stream }: StreamProps) {
  if (useStreamState(stream) !== "lost") return null;
  return <p class="lost-notice">{common("lostHint")}</p>;
}

import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../api/client.ts";
import type { Message } from "../api/types.ts";
import { showNumber } from "../texts/format.ts";
import { messageTexts as texts } from "../texts/messages.ts";
import { Failure } from "./states.tsx";

interface MessageRecorderProps {
  base: string;
  maxMs: number;
  onSent(message: Message): void;
}

type State =
  | { kind: "idle" }
  | { kind: "refused" }
  | { kind: "recording"; startedMs: number }
  | { kind: "recorded"; blob: Blob; url: string };

/** What browsers record, in the order in which we like it; the service takes all of them. */
const forms = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];

/** Records with the microphone, lets one listen first, and sends. */
export function MessageRecorder({ base, maxMs, onSent }: MessageRecorderProps) {
  const [state, setState] = useState<State>({ kind: "idle" });
  const [nowMs, setNow] = useState(0);
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const recorder = useRef<MediaRecorder | undefined>(undefined);
  const isGone = useRef(false);
  const stop = (): void => {
    if (recorder.current?.state === "recording") recorder.current.stop();
  };
  useEffect(
    () => () => {
      isGone.current = true;
      stop();
    },
    [],
  );
  const startedMs = state.kind === "recording" ? state.startedMs : undefined;
  useEffect(() => {
    if (startedMs === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 250);
    // A little less than is allowed: the recorder adds the rest of its last piece.
    const end = setTimeout(stop, maxMs - 500);
    return () => {
      clearInterval(timer);
      clearTimeout(end);
    };
  }, [startedMs]);
  useEffect(() => {
    if (state.kind !== "recorded") return undefined;
    return () => URL.revokeObjectURL(state.url);
  }, [state]);

  async function start(): Promise<void> {
    setFailure(undefined);
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch {
      return setState({ kind: "refused" });
    }
    const mimeType = forms.find((form) => MediaRecorder.isTypeSupported(form));
    const device = new MediaRecorder(stream, mimeType ? { mimeType } : {});
    const pieces: Blob[] = [];
    device.ondataavailable = ({ data }) => pieces.push(data);
    device.onstop = () => {
      for (const one of stream.getTracks()) one.stop();
      if (isGone.current) return;
      const blob = new Blob(pieces, { type: device.mimeType });
      setState({ kind: "recorded", blob, url: URL.createObjectURL(blob) });
    };
    recorder.current = device;
    device.start();
    setNow(Date.now());
    setState({ kind: "recording", startedMs: Date.now() });
  }

  async function send(blob: Blob): Promise<void> {
    setBusy(true);
    setFailure(undefined);
    try {
      const form = new FormData();
      form.append("file", blob, blob.type.startsWith("audio/mp4") ? "message.m4a" : "message.webm");
      onSent(await post<Message>(`${base}upload-voice/`, form));
      setState({ kind: "idle" });
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <div class="recorder">
      {state.kind !== "recording" && state.kind !== "recorded" && (
        <button type="button" onClick={() => void start()}>
          <span aria-hidden="true">● </span>
          {texts("record")}
        </button>
      )}
      {state.kind === "refused" && (
        <p class="problem" role="alert">
          {texts("noMicrophone")}
        </p>
      )}
      {state.kind === "recording" && (
        <div class="row">
          <button type="button" class="danger" onClick={stop}>
            <span aria-hidden="true">■ </span>
            {texts("stop")}
          </button>
          <span>
            {texts("recording", {
              seconds: showNumber(Math.max(0, (nowMs - state.startedMs) / 1000), 0),
              max: showNumber(maxMs / 1000, 0),
            })}
          </span>
        </div>
      )}
      {state.kind === "recorded" && (
        <>
          <audio controls src={state.url} aria-label={texts("listen")}>
            <track kind="captions" />
          </audio>
          <div class="row">
            <button type="button" class="primary" disabled={isBusy} onClick={() => void send(state.blob)}>
              {texts("sendRecording")}
            </button>
            <button type="button" disabled={isBusy} onClick={() => setState({ kind: "idle" })}>
              {texts("discard")}
            </button>
          </div>
        </>
      )}
      {failure !== undefined && <Failure error={failure} />}
    </div>
  );
}

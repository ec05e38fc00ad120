import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session } from "../protocol-definition.ts";
import { plainText } from "./report.ts";
import type { Jt808Traits } from "./traits.ts";

/** `(<terminal>,1,001,<word>,…)`: texts of electronic locks beside their reports. */
export function readText(raw: Buffer, session: Session<Jt808Traits>): FrameContent {
  const text = plainText(raw);
  const id = /^\(0*(\d{1,20}),/.exec(text)?.[1];
  if (id === undefined) throw new MalformedFrame("text without a terminal number");
  const { device } = session;
  if (device === undefined) {
    return { messages: [{ kind: "login", id, proof: { kind: "none" } }], replies: [], isReadAgain: true };
  }
  if (id !== device.id) throw new MalformedFrame("another terminal number on this connection");
  if (text.includes("BASE,2")) {
    const reply = text.replace("TIME", new Date(session.nowMs).toISOString().replace(/\D/g, "").slice(0, 14));
    return { messages: [{ kind: "heartbeat" }], replies: [Buffer.from(reply, "latin1")] };
  }
  return {
    messages: [{ kind: "vitals", deviceTimeMs: null, metrics: {}, extra: { result: text } }],
    replies: [],
  };
}

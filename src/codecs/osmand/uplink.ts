import { MalformedFrame } from "../malformed-frame.ts";
import type { FrameContent, Session } from "../protocol-definition.ts";
import { stored } from "./answers.ts";
import { readJson } from "./json.ts";
import { readQuery } from "./query.ts";
import { messagesOf, type Report } from "./report.ts";
import { type Request, readRequest } from "./request.ts";

/** Every request names its device. The first one of a connection is the login, and is then read for what it says. */
export function readFrame(raw: Buffer, session: Session): FrameContent {
  const request = readRequest(raw);
  const { id, reports } = readReports(request);
  if (id === undefined || !/^[\x21-\x7e]{1,64}$/.test(id)) throw new MalformedFrame("request without an id");
  // A login of another device ends the connection: whoever wants to speak for two uses two.
  if (id !== session.device?.id) return { messages: [{ kind: "login", id }], replies: [], isReadAgain: true };
  const messages = reports.flatMap((report, index) => messagesOf(report, index < reports.length - 1));
  return {
    messages: messages.length === 0 ? [{ kind: "heartbeat" }] : messages,
    replies: [stored(request.isKeptAlive)],
    isLast: !request.isKeptAlive,
  };
}

function readReports(request: Request): { id: string | undefined; reports: Report[] } {
  if (request.method !== "GET" && request.method !== "POST") throw new MalformedFrame("method that is not known");
  const question = request.target.indexOf("?");
  const query = question === -1 ? "" : request.target.slice(question + 1);
  const type = request.headers.get("content-type") ?? "";
  if (request.method === "POST" && /^application\/json\b/i.test(type)) {
    const { id, reports } = readJson(request.body);
    const inQuery = new URLSearchParams(query);
    return { id: id ?? inQuery.get("id") ?? inQuery.get("deviceid") ?? undefined, reports };
  }
  const { id, report } = readQuery(new URLSearchParams(query === "" ? request.body.toString("utf8") : query));
  return { id, reports: [report] };
}

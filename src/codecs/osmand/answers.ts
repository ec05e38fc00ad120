import type { RefusalReason } from "../protocol-definition.ts";

/** An empty body: there is nothing to tell the phone but that its request is stored. */
export function stored(isKeptAlive: boolean): Buffer {
  return answer("200 OK", isKeptAlive);
}

export function refusal(reason: RefusalReason): Buffer {
  return answer(reason === "unknown_device" ? "404 Not Found" : "400 Bad Request", false);
}

function answer(status: string, isKeptAlive: boolean): Buffer {
  const connection = isKeptAlive ? "keep-alive" : "close";
  return Buffer.from(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: ${connection}\r\n\r\n`, "latin1");
}

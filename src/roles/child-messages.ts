import type { Config } from "../config.ts";
import type { EmbeddedConnection } from "../embedded/embedded-server.ts";

/** What a child is given to begin with. */
export interface ChildStart {
  name: string;
  config: Config;
  /** Of the embedded database, which the supervisor owns. */
  connection: EmbeddedConnection | undefined;
  /** Gateways that share the limits of the port. */
  gateways: number;
}

export interface ChildAddresses {
  http: string;
  gateway: string;
  udp: string;
  isEmpty: boolean;
}

export type Question = "metrics" | "readiness";

/** From the supervisor to a child. */
export type Order =
  | { kind: "start"; start: ChildStart }
  | { kind: "stop" }
  | { kind: "ask"; id: number; question: Question };

/**
 * From a child to its supervisor. It listens when it says hello: what is sent before may be lost. The answer to readiness is empty
 * when it is ready, else the reason.
 */
export type Report =
  | { kind: "hello" }
  | ({ kind: "ready" } & ChildAddresses)
  | { kind: "failed"; reason: string }
  | { kind: "answer"; id: number; text: string };

/** A process could not start; the message says why and what to do. */
export class ChildStartError extends Error {}

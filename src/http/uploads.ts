import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { serviceUnavailable } from "../lib/errors.ts";
import { collectBody, type RawBody } from "../lib/raw-body.ts";
import { maxJsonBytes } from "./body.ts";
import { formOverheadBytes } from "./multipart.ts";

/** Bodies with files that are in memory at a time, from their first byte to their answer: some 30 MB each. */
const maxConcurrent = 3;
/** Those that may wait for room, unread. */
const maxWaiting = 30;

/** Collects the bodies of requests. Uploads are large, so only a few are read at a time and the others wait unread. */
export class Uploads {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  async collect(request: FastifyRequest, payload: IncomingMessage): Promise<RawBody> {
    const contentType = request.headers["content-type"];
    const { route, maxBodyBytes = maxJsonBytes } = request.routeOptions.config;
    const file = route?.file;
    if (!file) return collectBody(payload, contentType, maxBodyBytes);
    await this.#enter();
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.#leave();
    };
    request.releaseUpload = release;
    try {
      // Who left while waiting says nothing any more, not even that he is gone.
      if (payload.destroyed) throw serviceUnavailable();
      return await collectBody(payload, contentType, file.maxBytes + formOverheadBytes);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < maxConcurrent) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= maxWaiting) throw serviceUnavailable();
    // Whoever leaves hands its place on.
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";
import { serviceUnavailable } from "../lib/errors.ts";
import { FairSlots } from "../lib/fair-slots.ts";
import { collectBody, type RawBody } from "../lib/raw-body.ts";
import { maxJsonBytes } from "./body.ts";
import { formOverheadBytes } from "./multipart.ts";
import { tenantOf } from "./principal.ts";

/**
 * Bodies with files that are in memory at a time, from their first byte to their answer: some 30 MB each. An organization has
 * two of them, so that slow or many uploads of one leave room for others.
 */
const shares = { slots: 4, slotsPerTenant: 2, maxWaiting: 60, maxWaitingPerTenant: 10 };

/** Collects the bodies of requests. Uploads are large, so only a few are read at a time and the others wait unread. */
export class Uploads {
  readonly #slots = new FairSlots(shares);

  async collect(request: FastifyRequest, payload: IncomingMessage): Promise<RawBody> {
    const contentType = request.headers["content-type"];
    const { route, maxBodyBytes = maxJsonBytes } = request.routeOptions.config;
    const file = route?.file;
    if (!file) return collectBody(payload, contentType, maxBodyBytes);
    const tenant = request.principal ? tenantOf(request.principal) : "";
    const release = this.#slots.take(tenant) ?? (await this.#slots.wait(tenant));
    request.releaseUpload = release;
    try {
      // A client that disconnected while queued emits no further close event.
      if (payload.destroyed) throw serviceUnavailable();
      return await collectBody(payload, contentType, file.maxBytes + formOverheadBytes);
    } catch (error) {
      release();
      throw error;
    }
  }
}

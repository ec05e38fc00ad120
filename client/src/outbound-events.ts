import type { QueryOf } from "./lists.ts";
import type { OutboundEvent, OutboundEventPage } from "./schemas.ts";
import type { CallOptions, Transport } from "./transport.ts";

type ReplayQuery = QueryOf<"partner_outbound_events_list">;

export interface OutboundEvents {
  page(query?: ReplayQuery, options?: CallOptions): Promise<OutboundEventPage>;
  /** From the cursor to the present end of the log, in order of id. */
  list(query?: ReplayQuery, options?: CallOptions): AsyncIterable<OutboundEvent>;
}

export const maxReplayLimit = 500;

export function makeOutboundEvents({ call }: Transport): OutboundEvents {
  const page: OutboundEvents["page"] = (query = {}, options) =>
    call("partner_outbound_events_list", { query }, options);
  return {
    page,
    async *list(query = {}, options) {
      let since = query.since;
      for (;;) {
        const { data, next_cursor } = await page({ limit: maxReplayLimit, ...query, since }, options);
        yield* data;
        if (next_cursor === null) return;
        since = next_cursor;
      }
    },
  };
}

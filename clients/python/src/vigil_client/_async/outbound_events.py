from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from ..operations import PartnerOutboundEventsListQuery
from ..options import CallOptions
from ..schemas import OutboundEvent
from .resources import AsyncOutboundEventCalls

MAX_REPLAY_LIMIT = 500


class AsyncOutboundEvents(AsyncOutboundEventCalls):
    async def list(
        self,
        *,
        since: str | None = None,
        types: Sequence[str] | None = None,
        limit: int = MAX_REPLAY_LIMIT,
        options: CallOptions | None = None,
    ) -> AsyncIterator[OutboundEvent]:
        """From the cursor to the present end of the log, in order of id."""
        while True:
            query: PartnerOutboundEventsListQuery = {"limit": limit}
            if since is not None:
                query["since"] = since
            if types is not None:
                query["types"] = ",".join(types)
            page = await self.page(options=options, **query)
            for event in page["data"]:
                yield event
            if page["next_cursor"] is None:
                return
            since = page["next_cursor"]

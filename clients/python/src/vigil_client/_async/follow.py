from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..cursors import Gap
from ..error_codes import CursorExpiredError
from ..errors import ApiError, VigilError
from ..operations import PartnerOutboundEventsListQuery
from ..retries import backoff, is_temporary
from ..schemas import OutboundEvent
from .concurrency import Alarm, resolve
from .outbound_events import MAX_REPLAY_LIMIT, AsyncOutboundEvents


class Cursor(Protocol):
    """Where the cursor is kept; FileCursor is one. The functions may be coroutines in the asynchronous client."""

    def load(self) -> Any: ...

    def save(self, cursor: str) -> Any: ...


@dataclass(frozen=True)
class FollowOptions:
    cursor: Cursor
    # One event at a time; the cursor is saved after each. A crash in between hands the last event out again.
    handle: Callable[[OutboundEvent], Any] | None
    # A page at a time, with its cursor: store both in one transaction, and a crash neither loses nor doubles anything.
    handle_batch: Callable[[Sequence[OutboundEvent], str], Any] | None
    types: Sequence[str] | None
    poll: float
    on_gap: Callable[[Gap], Any] | None
    on_retry: Callable[[VigilError], Any] | None
    on_outside_log: Callable[[OutboundEvent], Any] | None


class AsyncFollower:
    """Hands every event of the log to the handler, once and in order of id.

    Replay alone decides what is handled: a push only says that there is something to read. The service shows a row on
    both ways only when every lower id is shown too, so the page that is read after a push has the pushed event and all
    before it, whatever order pushes arrive in.
    """

    def __init__(self, outbound_events: AsyncOutboundEvents, options: FollowOptions) -> None:
        if (options.handle is None) == (options.handle_batch is None):
            raise TypeError("follow() takes either handle or handle_batch.")
        self._outbound_events = outbound_events
        self._options = options
        self._pushed: dict[str, OutboundEvent] = {}
        self._alarm = Alarm()
        self._stop_alarm = Alarm()
        self._is_stopped = False

    def push(self, event: OutboundEvent) -> None:
        """For the receiver of webhooks, which may answer at once: the cursor, not the push, decides what was handled."""
        self._pushed[event["id"]] = event
        self._alarm.ring()

    def stop(self) -> None:
        """run() returns when the event in progress is handled and its cursor saved."""
        self._is_stopped = True
        self._alarm.ring()
        self._stop_alarm.ring()

    async def run(self) -> None:
        """Returns after stop(); raises what a handler raises, or the error of a service that refuses the call."""
        cursor: str | None = await resolve(self._options.cursor.load())
        failures = 0
        while not self._is_stopped:
            self._alarm.clear()
            # Pushed before the page was asked for: the page has them, or the log does not.
            expected = list(self._pushed.values())
            try:
                # No retries of the call itself: between them nobody could stop the follower.
                page = await self._outbound_events.page(options={"max_retries": 0}, **self._query(cursor))
            except CursorExpiredError as error:
                if cursor is None:
                    raise
                cursor = await self._skip_gap(cursor, error.oldest_available_cursor)
                continue
            except VigilError as error:
                if not is_temporary(error):
                    raise
                failures += 1
                await self._wait_after(error, failures)
                continue
            failures = 0
            cursor = await self._hand_over(page["data"]) or cursor
            for event in page["data"]:
                self._pushed.pop(event["id"], None)
            if page["has_more"] or self._is_stopped:
                continue
            await self._report_outside(expected, cursor)
            if not self._pushed and not self._is_stopped:
                await self._alarm.wait(self._options.poll)

    def _query(self, cursor: str | None) -> PartnerOutboundEventsListQuery:
        query: PartnerOutboundEventsListQuery = {"limit": MAX_REPLAY_LIMIT}
        if cursor is not None:
            query["since"] = cursor
        if self._options.types is not None:
            query["types"] = ",".join(self._options.types)
        return query

    async def _wait_after(self, error: VigilError, failures: int) -> None:
        if self._options.on_retry is not None:
            await resolve(self._options.on_retry(error))
        requested = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
        # A push does not end this wait: the service asked for it, or is away.
        await self._stop_alarm.wait(max(requested, backoff(failures, random.random())))

    async def _skip_gap(self, from_cursor: str, to_cursor: str) -> str:
        if self._options.on_gap is not None:
            await resolve(self._options.on_gap(Gap(from_cursor, to_cursor)))
        if self._options.handle_batch is not None:
            await resolve(self._options.handle_batch([], to_cursor))
        else:
            await resolve(self._options.cursor.save(to_cursor))
        return to_cursor

    async def _hand_over(self, events: Sequence[OutboundEvent]) -> str | None:
        """Returns the cursor after what was handled."""
        last: str | None = None
        if self._options.handle_batch is not None:
            if events:
                last = events[-1]["id"]
                await resolve(self._options.handle_batch(events, last))
            return last
        for event in events:
            if self._is_stopped:
                break
            if self._options.handle is not None:
                await resolve(self._options.handle(event))
            await resolve(self._options.cursor.save(event["id"]))
            last = event["id"]
        return last

    async def _report_outside(self, expected: Sequence[OutboundEvent], cursor: str | None) -> None:
        for event in expected:
            if self._pushed.pop(event["id"], None) is None:
                continue
            # Up to the cursor: handled earlier, and pushed again. Beyond it the log has nothing of that id.
            is_handled = cursor is not None and event["id"] <= cursor
            is_wanted = self._options.types is None or event["type"] in self._options.types
            if not is_handled and is_wanted and self._options.on_outside_log is not None:
                await resolve(self._options.on_outside_log(event))

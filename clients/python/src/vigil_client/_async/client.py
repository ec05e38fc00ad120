from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import httpx

from ..cursors import Gap
from ..errors import VigilError
from ..options import CallOptions, ClientSettings
from ..schemas import OutboundEvent
from .commands import AsyncCommands
from .follow import AsyncFollower, Cursor, FollowOptions
from .outbound_events import AsyncOutboundEvents
from .resources import (
    AsyncAlertThresholds,
    AsyncAssignments,
    AsyncAuditLog,
    AsyncCatalog,
    AsyncDevices,
    AsyncEvents,
    AsyncGeofences,
    AsyncInvitations,
    AsyncLocations,
    AsyncOrganization,
    AsyncTelemetryLog,
    AsyncUsers,
)
from .streams import AsyncEcg, AsyncMessages
from .transport import AsyncTransport


class AsyncVigilClient:
    """One client per integration; it holds the token and may be used by many calls at a time."""

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        *,
        scopes: Sequence[str] | None = None,
        timeout: float = 30.0,
        max_retries: int = 4,
        max_wait: float = 60.0,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        settings = ClientSettings(
            base_url.rstrip("/"), client_id, client_secret, scopes, timeout, max_retries, max_wait
        )
        self._http = httpx.AsyncClient() if http is None else http
        transport = AsyncTransport(settings, self._http)
        self._transport = transport
        self.organization = AsyncOrganization(transport)
        self.catalog = AsyncCatalog(transport)
        self.users = AsyncUsers(transport)
        self.devices = AsyncDevices(transport)
        self.assignments = AsyncAssignments(transport)
        self.invitations = AsyncInvitations(transport)
        self.locations = AsyncLocations(transport)
        self.telemetry = AsyncTelemetryLog(transport)
        self.ecg = AsyncEcg(transport)
        self.events = AsyncEvents(transport)
        self.commands = AsyncCommands(transport)
        self.messages = AsyncMessages(transport)
        self.geofences = AsyncGeofences(transport)
        self.alert_thresholds = AsyncAlertThresholds(transport)
        self.audit_log = AsyncAuditLog(transport)
        self.outbound_events = AsyncOutboundEvents(transport)

    def follow(
        self,
        cursor: Cursor,
        *,
        handle: Callable[[OutboundEvent], Any] | None = None,
        handle_batch: Callable[[Sequence[OutboundEvent], str], Any] | None = None,
        types: Sequence[str] | None = None,
        poll: float = 5.0,
        on_gap: Callable[[Gap], Any] | None = None,
        on_retry: Callable[[VigilError], Any] | None = None,
        on_outside_log: Callable[[OutboundEvent], Any] | None = None,
    ) -> AsyncFollower:
        """Every event of the log, once and in order, from the stored cursor on. Call run() on the result."""
        options = FollowOptions(cursor, handle, handle_batch, types, poll, on_gap, on_retry, on_outside_log)
        return AsyncFollower(self.outbound_events, options)

    async def call(
        self,
        operation_id: str,
        *,
        path: dict[str, str | int] | None = None,
        query: dict[str, Any] | None = None,
        body: Any = None,
        options: CallOptions | None = None,
    ) -> Any:
        """Any operation by its id."""
        return await self._transport.call(operation_id, path or {}, query or {}, body, options)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncVigilClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Generic, TypeVar, cast
from urllib.parse import parse_qsl, urlsplit

from ..options import CallOptions
from .transport import AsyncTransport

Row = TypeVar("Row")
Page = TypeVar("Page")


class AsyncRows(Generic[Row, Page]):
    """All rows of a list: `async for row in rows`.

    Pages are fetched as the rows are used; a failed page is retried, so rows are neither lost nor doubled.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        operation_id: str,
        path: Mapping[str, str | int],
        query: Mapping[str, Any],
        options: CallOptions | None,
    ) -> None:
        self._transport = transport
        self._operation_id = operation_id
        self._path = path
        self._query = query
        self._options = options

    async def page(self) -> Page:
        """The page that the query names."""
        return await self._fetch(self._query)

    async def pages(self) -> AsyncIterator[Page]:
        query: Mapping[str, Any] | None = self._query
        while query is not None:
            found = await self._fetch(query)
            yield found
            # Only the query of the link: behind a proxy the service may know itself by another address.
            following = cast("dict[str, str | None]", found)["next"]
            query = None if following is None else dict(parse_qsl(urlsplit(following).query, keep_blank_values=True))

    async def __aiter__(self) -> AsyncIterator[Row]:
        async for page in self.pages():
            for row in cast("dict[str, list[Row]]", page)["results"]:
                yield row

    async def to_list(self) -> list[Row]:
        return [row async for row in self]

    async def _fetch(self, query: Mapping[str, Any]) -> Page:
        answer = await self._transport.call(self._operation_id, self._path, query, None, self._options)
        return cast("Page", answer)

from __future__ import annotations

import json
import random
import re
import uuid
from collections.abc import AsyncIterable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from ..answers import to_api_error
from ..error_codes import InvalidTokenError
from ..errors import ApiError, VigilConnectionError, VigilError, VigilTimeoutError
from ..operations import OPERATIONS
from ..options import CallOptions, ClientSettings
from ..retries import is_ambiguous, retry_delay
from .concurrency import sleep
from .tokens import AsyncTokenSource

_USER_AGENT = "vigil-client-python/0.1.0"


@dataclass
class AsyncRawBody:
    """A body that is not JSON."""

    content_type: str
    # False for a stream, which can be read only once.
    can_make_again: bool
    make: Callable[[], AsyncIterable[bytes]]


@dataclass
class AsyncPreparedCall:
    method: str
    url: str
    headers: dict[str, str]
    body: Callable[[], bytes | AsyncIterable[bytes] | None]
    # Doing it twice does no harm.
    is_repeatable: bool
    can_send_again: bool
    is_streamed: bool


def _query_text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


class AsyncTransport:
    def __init__(self, settings: ClientSettings, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._tokens = AsyncTokenSource(settings, http)

    async def call(
        self,
        operation_id: str,
        path: Mapping[str, str | int],
        query: Mapping[str, Any],
        body: Any,
        options: CallOptions | None = None,
    ) -> Any:
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        prepared = self._prepare(operation_id, path, query, options)
        if content is not None:
            prepared.headers["content-type"] = "application/json"
            prepared.body = lambda: content
        answer = await self._send(prepared, options or {})
        return json.loads(answer.content) if answer.content else None

    async def open(
        self,
        operation_id: str,
        path: Mapping[str, str | int],
        query: Mapping[str, Any],
        options: CallOptions | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        raw_body: AsyncRawBody | None = None,
    ) -> httpx.Response:
        """The answer as it comes, for bodies that are streams. Whoever opens it closes it."""
        prepared = self._prepare(operation_id, path, query, options)
        prepared.headers.update(headers or {})
        given: CallOptions = {**(options or {})}
        if raw_body is None:
            prepared.is_streamed = True
        else:
            prepared.headers["content-type"] = raw_body.content_type
            prepared.body = raw_body.make
            prepared.can_send_again = raw_body.can_make_again
            if not raw_body.can_make_again:
                given["max_retries"] = 0
        return await self._send(prepared, given)

    def _prepare(
        self,
        operation_id: str,
        path: Mapping[str, str | int],
        query: Mapping[str, Any],
        options: CallOptions | None,
    ) -> AsyncPreparedCall:
        operation = OPERATIONS[operation_id]

        def fill(match: re.Match[str]) -> str:
            value = str(path[match.group(1)])
            if value == "":
                raise TypeError(f"{match.group(1)} is required.")
            return quote(value, safe="")

        url = httpx.URL(self._settings.base_url + re.sub(r"\{(\w+)\}", fill, operation.path))
        given = {name: _query_text(value) for name, value in query.items() if value is not None}
        headers = {"user-agent": _USER_AGENT}
        if operation.takes_idempotency_key:
            headers["idempotency-key"] = (options or {}).get("idempotency_key") or str(uuid.uuid4())
        return AsyncPreparedCall(
            method=operation.method,
            url=str(url.copy_merge_params(given) if given else url),
            headers=headers,
            body=lambda: None,
            is_repeatable=operation.method != "POST" or operation.takes_idempotency_key,
            can_send_again=True,
            is_streamed=False,
        )

    async def _send(self, call: AsyncPreparedCall, options: CallOptions) -> httpx.Response:
        max_retries = options.get("max_retries", self._settings.max_retries)
        timeout = options.get("timeout", self._settings.timeout)
        is_perhaps_done = False
        has_new_token = False
        attempt = 1
        while True:
            try:
                return await self._send_once(call, timeout)
            except VigilError as error:
                # Refused before anything was done: a token that has ended or was revoked.
                if isinstance(error, InvalidTokenError) and not has_new_token and call.can_send_again:
                    has_new_token = True
                    continue
                # The answer to the first DELETE was lost, and it had worked.
                if is_perhaps_done and call.method == "DELETE" and isinstance(error, ApiError) and error.status == 404:
                    return httpx.Response(204)
                max_wait = self._settings.max_wait
                delay = retry_delay(error, attempt, call.is_repeatable, max_retries, max_wait, random.random())
                if delay is None:
                    raise
                is_perhaps_done = is_perhaps_done or is_ambiguous(error)
            attempt += 1
            await sleep(delay)

    async def _send_once(self, call: AsyncPreparedCall, timeout: float) -> httpx.Response:
        token = await self._tokens.get(timeout)
        headers = {**call.headers, "authorization": f"Bearer {token}"}
        try:
            request = self._http.build_request(
                call.method, call.url, headers=headers, content=call.body(), timeout=timeout
            )
            answer = await self._http.send(request, stream=call.is_streamed)
            if answer.is_success:
                return answer
            text = (await answer.aread()).decode("utf-8", "replace")
        except httpx.TimeoutException as error:
            raise VigilTimeoutError(f"No answer within {timeout} seconds.") from error
        except httpx.RequestError as error:
            raise VigilConnectionError("The connection to the service failed.") from error
        failure = to_api_error(answer.status_code, answer.headers, text)
        if isinstance(failure, InvalidTokenError):
            self._tokens.drop(token)
        raise failure

from __future__ import annotations

import time

import httpx

from ..answers import to_api_error
from ..errors import VigilConnectionError, VigilTimeoutError
from ..options import ClientSettings
from .concurrency import Lock

_MAX_MARGIN = 60.0


class AsyncTokenSource:
    """Fetches a token when one is needed and renews it shortly before it ends. Calls that wait for one share a request."""

    def __init__(self, settings: ClientSettings, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http
        self._lock = Lock()
        self._token: str | None = None
        self._renew_at = 0.0

    async def get(self, timeout: float) -> str:
        async with self._lock:
            if self._token is not None and time.monotonic() < self._renew_at:
                return self._token
            return await self._fetch(timeout)

    def drop(self, token: str) -> None:
        """The service has refused this token: the next call gets another one."""
        if self._token == token:
            self._token = None

    async def _fetch(self, timeout: float) -> str:
        form = {"grant_type": "client_credentials"}
        if self._settings.scopes is not None:
            form["scope"] = " ".join(self._settings.scopes)
        asked = time.monotonic()
        try:
            answer = await self._http.post(
                f"{self._settings.base_url}/o/token/",
                data=form,
                auth=httpx.BasicAuth(self._settings.client_id, self._settings.client_secret),
                timeout=timeout,
            )
        except httpx.TimeoutException as error:
            raise VigilTimeoutError(f"No token within {timeout} seconds.") from error
        except httpx.RequestError as error:
            raise VigilConnectionError("The connection to the service failed.") from error
        if not answer.is_success:
            raise to_api_error(answer.status_code, answer.headers, answer.text)
        document = answer.json()
        lifetime = float(document["expires_in"])
        token = str(document["access_token"])
        self._token = token
        self._renew_at = asked + lifetime - min(_MAX_MARGIN, lifetime / 5)
        return token

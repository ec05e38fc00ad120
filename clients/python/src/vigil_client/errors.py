from __future__ import annotations

from typing import Any


class VigilError(Exception):
    """Every failure of this package is one."""


class ApiError(VigilError):
    """The service has answered with an error. Known codes have a class of their own in `error_codes`."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        request_id: str | None = None,
        retry_after: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{message} ({status} {code})")
        self.status = status
        # Stable, for programs. A newer service may send codes that this version does not know.
        self.code = code
        self.request_id = request_id
        # In seconds.
        self.retry_after = retry_after
        self.details: dict[str, Any] = details or {}


class VigilConnectionError(VigilError):
    """No answer came: the connection was refused or broke. The cause is the error of httpx."""


class VigilTimeoutError(VigilError):
    """No answer came in time."""

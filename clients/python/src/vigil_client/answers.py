from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from .error_codes import ERRORS_BY_CODE
from .errors import ApiError


def to_api_error(status: int, headers: Mapping[str, str], text: str, now: float | None = None) -> ApiError:
    """Reads the three forms of error bodies: those of the API, of replay and of the token endpoint."""
    body = _parse(text)
    inner = body.get("error")
    fields: dict[str, Any] = dict(inner) if isinstance(inner, dict) else body
    code = _first_text(fields, ("code", "error")) or "unknown_error"
    message = _first_text(fields, ("detail", "message", "error_description"))
    known = ("code", "error", "detail", "message", "error_description", "request_id")
    return ERRORS_BY_CODE.get(code, ApiError)(
        status,
        code,
        message or f"The service answered with status {status}.",
        _first_text(fields, ("request_id",)) or headers.get("x-request-id"),
        read_retry_after(headers.get("retry-after"), time.time() if now is None else now),
        {name: value for name, value in fields.items() if name not in known},
    )


def _parse(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        # A proxy in between answers with pages of its own.
        return {}
    return body if isinstance(body, dict) else {}


def _first_text(fields: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((fields[name] for name in names if isinstance(fields.get(name), str)), None)


def read_retry_after(value: str | None, now: float) -> float | None:
    """Seconds, or a date of HTTP."""
    if value is None:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None

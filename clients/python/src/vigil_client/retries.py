from __future__ import annotations

from .errors import ApiError, VigilConnectionError, VigilTimeoutError

_BASE_DELAY = 0.25
_MAX_BACKOFF = 10.0
_POSTPONED = {
    "throttled",
    "idempotency_in_progress",
    "service_unavailable",
    "too_busy",
    "temporarily_unavailable",
}


def is_ambiguous(error: BaseException) -> bool:
    """Nobody knows whether the service has done the call."""
    if isinstance(error, ApiError):
        return error.status >= 500
    return isinstance(error, (VigilConnectionError, VigilTimeoutError))


def is_postponed(error: BaseException) -> bool:
    """The service has certainly not done the call, and says when to come back."""
    return isinstance(error, ApiError) and error.code in _POSTPONED


def is_temporary(error: BaseException) -> bool:
    return is_ambiguous(error) or is_postponed(error)


def backoff(attempt: int, random: float) -> float:
    """Grows from a quarter of a second; between half and all of it, so that many clients do not come back at once."""
    return min(_MAX_BACKOFF, _BASE_DELAY * 2.0 ** min(attempt - 1, 16)) * (0.5 + random / 2)


def retry_delay(
    error: BaseException,
    attempt: int,
    is_repeatable: bool,
    max_retries: int,
    max_wait: float,
    random: float,
) -> float | None:
    """Seconds to wait before the next attempt, or None: give up. `is_repeatable`: doing it twice does no harm."""
    if attempt > max_retries:
        return None
    if not is_postponed(error) and not (is_repeatable and is_ambiguous(error)):
        return None
    requested = (error.retry_after or 0.0) if isinstance(error, ApiError) else 0.0
    if requested > max_wait:
        return None
    return max(requested, backoff(attempt, random))

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict


class CallOptions(TypedDict, total=False):
    """What every call takes."""

    # Seconds without progress after which one attempt is given up.
    timeout: float
    max_retries: int
    # For calls that create something. One is made if omitted; your own also survives a restart of your program.
    idempotency_key: str


@dataclass(frozen=True)
class ClientSettings:
    base_url: str
    client_id: str
    client_secret: str
    # Only these scopes; all granted ones if None.
    scopes: Sequence[str] | None
    timeout: float
    # Attempts after the first one.
    max_retries: int
    # A Retry-After that is longer is not waited for: the error is raised. In seconds.
    max_wait: float

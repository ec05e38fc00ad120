from __future__ import annotations

import threading
import time
from typing import Any

Lock = threading.Lock
sleep = time.sleep


class Alarm:
    """Ends a wait from another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ring(self) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)


def resolve(value: Any) -> Any:
    """Callbacks are plain functions here."""
    return value

from __future__ import annotations

import asyncio
import inspect
from typing import Any

Lock = asyncio.Lock
sleep = asyncio.sleep


class Alarm:
    """Ends a wait from another task."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    async def wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._event.wait(), seconds)
        except TimeoutError:
            pass


async def resolve(value: Any) -> Any:
    """Callbacks may be functions or coroutines."""
    return await value if inspect.isawaitable(value) else value

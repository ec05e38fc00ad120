from __future__ import annotations

import time
from dataclasses import dataclass

from ..errors import VigilTimeoutError
from ..options import CallOptions
from ..schemas import Command, CommandRequest
from .concurrency import sleep
from .resources import AsyncCommandCalls

_FIRST_POLL = 0.25


class AsyncCommands(AsyncCommandCalls):
    async def send(
        self, device_uid: str, body: CommandRequest, *, options: CallOptions | None = None
    ) -> AsyncSentCommand:
        """Sends the command to the device, now or when it connects."""
        return AsyncSentCommand(await self.create(device_uid, body, options=options), self)

    async def settled(
        self, device_uid: str, command_uuid: str, *, timeout: float | None = None, max_poll: float = 5.0
    ) -> Command:
        """The command in its final status. Without a timeout it is waited for until its `expires_at`."""
        end = None if timeout is None else time.monotonic() + timeout
        wait = _FIRST_POLL
        while True:
            command = await self.get(device_uid, command_uuid)
            if command["terminal"]:
                return command
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise VigilTimeoutError(f"The command is still {command['status']} after {timeout} seconds.")
            pause = min(wait, max_poll)
            await sleep(pause if left is None else min(pause, left))
            wait *= 1.5


@dataclass
class AsyncSentCommand:
    """A command that the service has accepted, and a way to wait for its end."""

    command: Command
    commands: AsyncCommands

    async def settled(self, *, timeout: float | None = None, max_poll: float = 5.0) -> Command:
        """The command in its final status: `ack_ok`, `ack_error` or `timeout`."""
        if self.command["terminal"]:
            return self.command
        uid, uuid = self.command["device_uid"], self.command["command_uuid"]
        return await self.commands.settled(uid, uuid, timeout=timeout, max_poll=max_poll)

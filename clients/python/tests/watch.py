"""A watch that speaks IW: it logs in, answers commands and calls for help."""

from __future__ import annotations

import socket
import threading
from datetime import datetime, timezone


class Watch:
    def __init__(self, gateway: str, uid: str) -> None:
        host, _, port = gateway.rpartition(":")
        self._uid = uid
        self._socket = socket.create_connection((host, int(port)))
        self._replies: dict[str, threading.Event] = {}
        threading.Thread(target=self._read, daemon=True).start()
        self._ask("BP00", f"IWAP00{uid}#")

    def sos(self, at: datetime) -> None:
        """Returns once the service has stored it."""
        when = at.astimezone(timezone.utc)
        position = f"{when:%y%m%d}A4154.1669N01229.7820E003.2{when:%H%M%S}118.0007500908100001,222,1,300,4500"
        self._ask("BP10", f"IWAP10{position},01,en,00,#")

    def close(self) -> None:
        self._socket.close()

    def _ask(self, reply: str, frame: str) -> None:
        self._replies[reply] = threading.Event()
        self._socket.sendall(frame.encode())
        if not self._replies[reply].wait(60):
            raise TimeoutError(f"no answer to {frame}")

    def _read(self) -> None:
        rest = ""
        try:
            while data := self._socket.recv(4096):
                *frames, rest = (rest + data.decode("latin-1")).split("#")
                for frame in frames:
                    self._take(frame)
        except OSError:
            return

    def _take(self, frame: str) -> None:
        code, *fields = frame.split(",")
        if len(fields) >= 2 and fields[0] == self._uid:
            self._socket.sendall(f"IWAP{code[4:]},{fields[1]}#".encode())
        elif code[2:6] in self._replies:
            self._replies[code[2:6]].set()

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Gap:
    """Rows between the stored cursor and the oldest one kept are no longer in the log."""

    # The cursor that had expired.
    from_cursor: str
    # Where the log goes on.
    to_cursor: str


class FileCursor:
    """Keeps the cursor of follow() in a file. It is replaced whole, so a crash leaves the old cursor or the new one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self) -> str | None:
        try:
            return self._path.read_text().strip() or None
        except FileNotFoundError:
            return None

    def save(self, cursor: str) -> None:
        new = self._path.with_name(f"{self._path.name}.new")
        with new.open("w") as file:
            file.write(f"{cursor}\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)

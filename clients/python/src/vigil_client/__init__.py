"""Client of the Vigil partner API: calls, webhook signatures and replay, blocking and asynchronous."""

from ._async.client import AsyncVigilClient
from ._async.commands import AsyncSentCommand
from ._async.follow import AsyncFollower
from ._async.lists import AsyncRows
from ._async.streams import AsyncDownload
from ._sync.client import VigilClient
from ._sync.commands import SentCommand
from ._sync.follow import Cursor, Follower
from ._sync.lists import Rows
from ._sync.streams import Download
from .cursors import FileCursor, Gap
from .errors import ApiError, VigilConnectionError, VigilError, VigilTimeoutError
from .options import CallOptions
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "ApiError",
    "AsyncDownload",
    "AsyncFollower",
    "AsyncRows",
    "AsyncSentCommand",
    "AsyncVigilClient",
    "CallOptions",
    "Cursor",
    "Download",
    "FileCursor",
    "Follower",
    "Gap",
    "Rows",
    "SentCommand",
    "VigilClient",
    "VigilConnectionError",
    "VigilError",
    "VigilTimeoutError",
    "WebhookVerificationError",
    "verify_webhook",
]

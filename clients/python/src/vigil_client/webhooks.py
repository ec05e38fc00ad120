from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from .errors import VigilError
from .schemas import OutboundEvent

WebhookRefusal = Literal["missing_signature", "wrong_signature", "outside_tolerance", "unreadable_body"]

_PREFIX = "whsec_"
_MAX_TIMESTAMP_DIGITS = 12


class WebhookVerificationError(VigilError):
    """The request does not come from the service, is too old, or is not an event. Answer 401 and drop it."""

    def __init__(self, reason: WebhookRefusal, message: str) -> None:
        super().__init__(message)
        self.reason: WebhookRefusal = reason


def verify_webhook(
    raw_body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    *,
    tolerance_seconds: float = 300.0,
    now: float | None = None,
) -> OutboundEvent:
    """Returns the event of a webhook request, or raises WebhookVerificationError.

    `raw_body` must be the bytes as they arrived: parsed and written again they have another signature. Checks
    `webhook-signature`, which covers id and time as well as the body, so that a recorded request cannot be sent again
    later. Give several secrets while one is being rotated.
    """
    known = [secret for secret in ([secrets] if isinstance(secrets, str) else secrets) if secret]
    if not known:
        raise TypeError("verify_webhook needs a secret.")
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    found = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signature = (
        found.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not event_id or not timestamp or not signature:
        raise WebhookVerificationError("missing_signature", "The request has no webhook signature.")
    message = f"{event_id}.{timestamp}.".encode() + body
    # No early end: the time must not tell which signature was nearly right.
    if not any([_is_signed(secret, message, signature) for secret in known]):
        raise WebhookVerificationError("wrong_signature", "The signature does not fit the body and the secrets.")
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _MAX_TIMESTAMP_DIGITS
    if not is_number or abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise WebhookVerificationError("outside_tolerance", "The request was signed too long ago.")
    return _read_event(body, event_id)


def _is_signed(secret: str, message: bytes, given: str) -> bool:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX))
    except binascii.Error:
        raise TypeError("A webhook secret is whsec_ and base64.") from None
    expected = base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
    signatures = [one.removeprefix("v1,") for one in given.split(" ") if one.startswith("v1,")]
    return any([hmac.compare_digest(one.encode(), expected.encode()) for one in signatures])


def _read_event(body: bytes, event_id: str) -> OutboundEvent:
    try:
        event = json.loads(body)
    except ValueError:
        raise WebhookVerificationError("unreadable_body", "The body is not JSON.") from None
    if not isinstance(event, dict) or event.get("id") != event_id:
        raise WebhookVerificationError("unreadable_body", "The body is not the event of the headers.")
    return cast("OutboundEvent", event)

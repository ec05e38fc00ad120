"""What needs no service: signatures, retries, tokens and errors, over an invented network."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import httpx

from vigil_client import (
    ApiError,
    FileCursor,
    VigilClient,
    VigilConnectionError,
    VigilTimeoutError,
    WebhookVerificationError,
    verify_webhook,
)
from vigil_client.error_codes import CursorExpiredError, ThrottledError, ValidationError

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()
EVENT_ID = "019ca877-8198-7a3c-9f61-2b7e5d0c4a11"
BODY = json.dumps({"id": EVENT_ID, "type": "alarm.sos", "data": {"message": "Größe"}}).encode()
NOW = 1_772_352_930


def signed(body: bytes = BODY, secret: str = SECRET, at: int = NOW) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{EVENT_ID}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "Webhook-Id": EVENT_ID,
        "webhook-timestamp": str(at),
        "webhook-signature": "v1,bm90 v1," + base64.b64encode(digest).decode(),
    }


class Signatures(unittest.TestCase):
    def refusal(self, *arguments: object, **options: object) -> str:
        with self.assertRaises(WebhookVerificationError) as caught:
            verify_webhook(*arguments, **options)  # type: ignore[arg-type]
        return caught.exception.reason

    def test_returns_the_event_of_a_signed_request(self) -> None:
        self.assertEqual(verify_webhook(BODY, signed(), SECRET, now=NOW)["type"], "alarm.sos")
        other = "whsec_" + base64.b64encode(b"x" * 32).decode()
        self.assertEqual(verify_webhook(BODY.decode(), signed(), [other, SECRET], now=NOW)["id"], EVENT_ID)

    def test_refuses_everything_else_and_says_why(self) -> None:
        self.assertEqual(self.refusal(BODY, {}, SECRET), "missing_signature")
        self.assertEqual(self.refusal(BODY + b" ", signed(), SECRET, now=NOW), "wrong_signature")
        self.assertEqual(self.refusal(BODY, signed(), SECRET, now=NOW + 301), "outside_tolerance")
        other = b'{"id":"another"}'
        self.assertEqual(self.refusal(other, signed(other), SECRET, now=NOW), "unreadable_body")
        self.assertEqual(self.refusal(b"[", signed(b"["), SECRET, now=NOW), "unreadable_body")
        with self.assertRaises(TypeError):
            verify_webhook(BODY, signed(), "")


Handler = Callable[[httpx.Request], httpx.Response]


def refusal(status: int, code: str, headers: dict[str, str] | None = None, **more: object) -> httpx.Response:
    body = {"code": code, "detail": "Try again.", "request_id": "r-1", **more}
    return httpx.Response(status, json=body, headers=headers)


class Network:
    """Answers calls in turn; tokens are always to be had."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.tokens = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/o/token/":
            self.tokens += 1
            return httpx.Response(200, json={"access_token": f"t{self.tokens}", "expires_in": 3600})
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: object) -> VigilClient:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return VigilClient("https://vigil.example/", "id", "secret", http=http, **options)  # type: ignore[arg-type]


DEVICE = {"uid": "490154203237518"}


class Retries(unittest.TestCase):
    def test_a_lost_answer_is_asked_for_again_with_the_same_key(self) -> None:
        network = Network(httpx.ReadError("gone"), refusal(503, "service_unavailable"), httpx.Response(201, json=DEVICE))
        self.assertEqual(network.client().devices.create({"uid": "490154203237518"})["uid"], DEVICE["uid"])
        keys = {request.headers["idempotency-key"] for request in network.requests}
        self.assertEqual((len(network.requests), len(keys)), (3, 1))

    def test_a_call_without_a_key_is_not_repeated_when_nobody_knows_whether_it_was_done(self) -> None:
        for error, kind in ((httpx.ReadError("gone"), VigilConnectionError), (httpx.ReadTimeout("late"), VigilTimeoutError)):
            network = Network(error)
            with self.assertRaises(kind):
                network.client().assignments.unassign("1", {"user_id": "2"})
            self.assertEqual(len(network.requests), 1)

    def test_retry_after_is_waited_for_unless_it_is_too_long(self) -> None:
        network = Network(refusal(429, "throttled", {"retry-after": "3000"}, violated_policies=["per_hour"]))
        with self.assertRaises(ThrottledError) as caught:
            network.client().devices.get("1")
        self.assertEqual((caught.exception.retry_after, caught.exception.violated_policies), (3000, ["per_hour"]))
        network = Network(refusal(429, "throttled", {"retry-after": "1"}), httpx.Response(200, json=DEVICE))
        self.assertEqual(network.client().devices.get("1"), DEVICE)

    def test_a_refused_token_is_replaced_once(self) -> None:
        network = Network(refusal(401, "invalid_token"), httpx.Response(200, json=DEVICE))
        network.client().devices.get("1")
        self.assertEqual([one.headers["authorization"] for one in network.requests], ["Bearer t1", "Bearer t2"])
        network = Network(refusal(401, "invalid_token"), refusal(401, "invalid_token"))
        with self.assertRaises(ApiError):
            network.client().devices.get("1")

    def test_a_delete_that_had_worked_is_done(self) -> None:
        network = Network(httpx.ReadError("gone"), refusal(404, "not_found"))
        self.assertIsNone(network.client().devices.delete("1"))


class Errors(unittest.TestCase):
    def test_have_a_class_by_code_with_its_details(self) -> None:
        network = Network(refusal(400, "validation_error", errors={"uid": ["Wrong."]}))
        with self.assertRaises(ValidationError) as caught:
            network.client().devices.create({"uid": "1"})
        self.assertEqual((caught.exception.errors, caught.exception.request_id), ({"uid": ["Wrong."]}, "r-1"))

    def test_are_read_from_the_form_of_replay_and_from_foreign_pages(self) -> None:
        body = {"error": {"code": "cursor_expired", "message": "Old.", "oldest_available_cursor": "c", "request_id": "r"}}
        with self.assertRaises(CursorExpiredError) as caught:
            Network(httpx.Response(410, json=body)).client().outbound_events.page()
        self.assertEqual(caught.exception.oldest_available_cursor, "c")
        with self.assertRaises(ApiError) as other:
            Network(httpx.Response(404, text="<html>")).client().devices.get("1")
        self.assertEqual(other.exception.code, "unknown_error")


class Lists(unittest.TestCase):
    def test_follow_the_query_of_the_next_link(self) -> None:
        pages = [
            {"results": [{"uid": "1"}], "next": "http://inside:8080/api/v1/devices/?page=2&tags=a%2Cb", "count": 2},
            {"results": [{"uid": "2"}], "next": None, "count": 2},
        ]
        network = Network(*(httpx.Response(200, json=page) for page in pages))
        rows = network.client().devices.list(tags="a,b")
        self.assertEqual([device["uid"] for device in rows], ["1", "2"])
        self.assertEqual(str(network.requests[1].url), "https://vigil.example/api/v1/devices/?page=2&tags=a%2Cb")


class Cursors(unittest.TestCase):
    def test_in_a_file_are_what_was_saved_last(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            cursor = FileCursor(Path(folder) / "cursor")
            self.assertIsNone(cursor.load())
            cursor.save("a")
            cursor.save("b")
            self.assertEqual(FileCursor(Path(folder) / "cursor").load(), "b")


if __name__ == "__main__":
    unittest.main()

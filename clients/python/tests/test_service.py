"""Against a running service: VIGIL_URL, VIGIL_CLIENT_ID, VIGIL_CLIENT_SECRET and VIGIL_GATEWAY (host:port of the devices)."""

from __future__ import annotations

import asyncio
import io
import os
import struct
import tempfile
import threading
import unittest
import uuid
from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

from watch import Watch

from vigil_client import AsyncVigilClient, FileCursor, Gap, VigilClient, VigilTimeoutError
from vigil_client.error_codes import NotFoundError
from vigil_client.schemas import OutboundEvent

ACCESS = tuple(os.environ.get(name, "") for name in ("VIGIL_URL", "VIGIL_CLIENT_ID", "VIGIL_CLIENT_SECRET"))
GATEWAY = os.environ.get("VIGIL_GATEWAY", "")


def new_uid() -> str:
    return str(490_000_000_000_000 + uuid.uuid4().int % 1_000_000_000_000)


def wav() -> bytes:
    """One second of silence, 8 kHz, 16 bits, mono."""
    head = struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", 16_036, b"WAVEfmt ", 16, 1, 1, 8000, 16_000, 2, 16, b"data", 16_000)
    return head + bytes(16_000)


def parts(data: bytes) -> Iterator[bytes]:
    for at in range(0, len(data), 1000):
        yield data[at : at + 1000]


@unittest.skipUnless(all(ACCESS), "VIGIL_URL and credentials are not set")
class Blocking(unittest.TestCase):
    def setUp(self) -> None:
        self.client = VigilClient(*ACCESS)
        self.addCleanup(self.client.close)
        self.uid = new_uid()
        self.client.devices.create({"uid": self.uid, "device_model_slug": "iw-h10", "name": "Watch"})

    def test_onboards_a_person_and_a_device(self) -> None:
        user = self.client.users.create({"email": f"{self.uid}@example.org", "first_name": "Anna"})
        assigned = self.client.assignments.assign(self.uid, {"user_id": user["id"], "role": "owner"})
        self.assertEqual(assigned["role"], "owner")
        fence = self.client.geofences.create(
            {"name": f"Home of {self.uid}", "center": {"lat": 41.9, "lng": 12.5}, "radius": 100}
        )
        linked = self.client.geofences.link_devices(fence["id"], {"device_uids": [self.uid]})["linked"]
        self.assertEqual(linked, [self.uid])
        # The same IMEI again, in the same organization, changes what is sent and keeps the rest.
        again = self.client.devices.create({"uid": self.uid, "device_model_slug": "iw-h10", "tags": ["ward"]})
        self.assertEqual((again["name"], again["tags"]), ("Watch", ["ward"]))
        self.client.geofences.delete(fence["id"])
        with self.assertRaises(NotFoundError):
            self.client.geofences.get(fence["id"])

    def test_lists_give_every_row_of_every_page(self) -> None:
        tag = uuid.uuid4().hex[:12]
        uids = sorted(new_uid() for _ in range(7))
        for uid in uids:
            self.client.devices.create({"uid": uid, "device_model_slug": "iw-h10", "tags": [tag]})
        rows = self.client.devices.list(tags=tag, ordering="uid", page_size=3)
        self.assertEqual([device["uid"] for device in rows], uids)
        self.assertEqual([len(page["results"]) for page in rows.pages()], [3, 3, 1])
        self.assertEqual((rows.page()["count"], len(rows.to_list())), (7, 7))

    def test_commands_settle(self) -> None:
        sent = self.client.commands.send(self.uid, {"command_type": "locate_now"})
        self.assertEqual(sent.command["status"], "pending")
        with self.assertRaises(VigilTimeoutError):
            sent.settled(timeout=0.3)
        watch = Watch(GATEWAY, self.uid)
        self.addCleanup(watch.close)
        self.assertEqual(sent.settled(timeout=60)["status"], "ack_ok")

    def test_recordings_are_streamed_both_ways(self) -> None:
        with tempfile.NamedTemporaryFile(suffix=".wav") as file:
            file.write(wav())
            file.flush()
            for source in (wav(), file.name, io.BytesIO(wav()), parts(wav()), lambda: parts(wav())):
                message = self.client.messages.upload_voice(self.uid, source, sender_name="Care desk")
                self.assertEqual((message["message_type"], message["sender_name"]), ("voice", "Care desk"))
        self.assertEqual(len(self.client.messages.list(self.uid).to_list()), 5)
        with self.assertRaises(NotFoundError):
            with self.client.messages.audio(self.uid, str(uuid.uuid4())):
                pass

    def test_follow_hands_out_each_event_once_in_order_and_goes_on_after_the_cursor(self) -> None:
        watch = Watch(GATEWAY, self.uid)
        self.addCleanup(watch.close)
        at = datetime.now(timezone.utc) - timedelta(hours=1)
        with tempfile.TemporaryDirectory() as folder:
            cursor = FileCursor(Path(folder) / "cursor")
            seen: list[OutboundEvent] = []
            for round_number in range(3):
                watch.sos(at + timedelta(minutes=5 * round_number))
                wanted = round_number + 1

                def handle(event: OutboundEvent) -> None:
                    seen.append(event)
                    if sum(one["device"]["uid"] == self.uid and one["type"] == "alarm.sos" for one in seen) >= wanted:
                        follower.stop()

                follower = self.client.follow(cursor, handle=handle, poll=0.1)
                runner = threading.Thread(target=follower.run)
                runner.start()
                runner.join(60)
                self.assertFalse(runner.is_alive())
        ids = [event["id"] for event in seen]
        self.assertEqual(ids, sorted(set(ids)))
        log = [event["id"] for event in self.client.outbound_events.list(limit=50)]
        self.assertEqual(ids, log[: len(ids)])

    def test_follow_reports_a_gap(self) -> None:
        watch = Watch(GATEWAY, self.uid)
        self.addCleanup(watch.close)
        watch.sos(datetime.now(timezone.utc) - timedelta(hours=2))
        gaps: list[Gap] = []
        batches: list[int] = []

        class Old:
            def load(self) -> str:
                return "01000000-0000-7000-8000-000000000000"

            def save(self, cursor: str) -> None:
                raise AssertionError("a batch stores its cursor itself")

        def handle_batch(events: object, cursor: str) -> None:
            batches.append(len(events))  # type: ignore[arg-type]
            if len(batches) == 2:
                follower.stop()

        follower = self.client.follow(Old(), handle_batch=handle_batch, on_gap=gaps.append, poll=0.1)
        follower.run()
        self.assertEqual((len(gaps), batches[0]), (1, 0))


@unittest.skipUnless(all(ACCESS), "VIGIL_URL and credentials are not set")
class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_does_the_same_with_a_loop(self) -> None:
        uid = new_uid()
        async with AsyncVigilClient(*ACCESS) as client:
            await client.devices.create({"uid": uid, "device_model_slug": "iw-h10"})
            found = await asyncio.gather(*(client.devices.get(uid) for _ in range(5)))
            self.assertEqual({device["uid"] for device in found}, {uid})
            self.assertIn(uid, [device["uid"] async for device in client.devices.list(search=uid)])

            async def chunks() -> AsyncIterator[bytes]:
                for part in parts(wav()):
                    yield part

            self.assertEqual((await client.messages.upload_voice(uid, chunks))["message_type"], "voice")
            watch = Watch(GATEWAY, uid)
            self.addCleanup(watch.close)
            sent = await client.commands.send(uid, {"command_type": "locate_now"})
            self.assertEqual((await sent.settled(timeout=60))["status"], "ack_ok")
            watch.sos(datetime.now(timezone.utc) - timedelta(hours=1))
            seen: list[str] = []

            async def handle(event: OutboundEvent) -> None:
                if event["type"] == "alarm.sos" and event["device"]["uid"] == uid:
                    seen.append(event["id"])
                    follower.stop()

            with tempfile.TemporaryDirectory() as folder:
                follower = client.follow(FileCursor(Path(folder) / "cursor"), handle=handle, poll=0.1)
                await asyncio.wait_for(follower.run(), 60)
            self.assertEqual(len(seen), 1)


if __name__ == "__main__":
    unittest.main()

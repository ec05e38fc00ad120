from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import BinaryIO, Literal, TypeAlias, cast

import httpx

from ..errors import VigilConnectionError, VigilTimeoutError
from ..options import CallOptions
from ..schemas import Message
from .resources import AsyncEcgCalls, AsyncMessageCalls
from .transport import AsyncRawBody

# Bytes and paths can be read again, and so can a function that opens the stream anew. A file or a plain stream is sent
# once and never retried.
AsyncUploadSource: TypeAlias = (
    "bytes | str | os.PathLike[str] | BinaryIO | AsyncIterable[bytes] | Callable[[], AsyncIterable[bytes]]"
)

_CHUNK = 65_536


async def _read_file(file: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


async def _read_source(source: AsyncUploadSource) -> AsyncIterator[bytes]:
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            async for chunk in _read_file(file):
                yield chunk
    elif hasattr(source, "read"):
        async for chunk in _read_file(cast("BinaryIO", source)):
            yield chunk
    else:
        stream = source() if callable(source) else source
        async for chunk in stream:
            yield chunk


def _quoted(text: str) -> str:
    return re.sub(r"[\r\n]+", " ", text.replace('"', "%22"))


def multipart_body(
    source: AsyncUploadSource, filename: str, content_type: str, fields: Mapping[str, str | None]
) -> AsyncRawBody:
    """A form with one file. The file is passed on as it is read, never held whole."""
    boundary = f"vigil-{uuid.uuid4()}"

    async def chunks() -> AsyncIterator[bytes]:
        for name, value in fields.items():
            if value is not None:
                head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
                yield f"{head}{value}\r\n".encode()
        disposition = f'Content-Disposition: form-data; name="file"; filename="{_quoted(filename)}"'
        yield f"--{boundary}\r\n{disposition}\r\nContent-Type: {_quoted(content_type)}\r\n\r\n".encode()
        async for chunk in _read_source(source):
            yield chunk
        yield f"\r\n--{boundary}--\r\n".encode()

    return AsyncRawBody(
        content_type=f"multipart/form-data; boundary={boundary}",
        can_make_again=isinstance(source, (bytes, str, os.PathLike)) or callable(source),
        make=chunks,
    )


class AsyncDownload:
    """An answer that is read while it arrives: `async for chunk in download`."""

    def __init__(self, answer: httpx.Response) -> None:
        self._answer = answer
        self.content_type = answer.headers.get("content-type", "application/octet-stream")
        length = answer.headers.get("content-length")
        self.content_length = None if length is None else int(length)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._answer.aiter_bytes():
                yield chunk
        except httpx.TimeoutException as error:
            raise VigilTimeoutError("The rest of the answer did not come in time.") from error
        except httpx.RequestError as error:
            raise VigilConnectionError("The connection broke within the answer.") from error

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self])


class AsyncMessages(AsyncMessageCalls):
    async def upload_voice(
        self,
        device_uid: str,
        source: AsyncUploadSource,
        *,
        filename: str = "voice",
        content_type: str = "application/octet-stream",
        sender_name: str | None = None,
        options: CallOptions | None = None,
    ) -> Message:
        """Sends a recording to the device. A str is a path."""
        raw_body = multipart_body(source, filename, content_type, {"sender_name": sender_name})
        path = {"device_uid": device_uid}
        answer = await self._transport.open(
            "devices_messages_upload_voice_create", path, {}, options, raw_body=raw_body
        )
        return cast("Message", json.loads(answer.content))

    @asynccontextmanager
    async def audio(
        self, device_uid: str, id: str, *, byte_range: str | None = None, options: CallOptions | None = None
    ) -> AsyncIterator[AsyncDownload]:
        """The recording as a stream; `byte_range` asks for a part of it ("bytes=0-1023")."""
        headers = {} if byte_range is None else {"range": byte_range}
        path = {"device_uid": device_uid, "id": id}
        answer = await self._transport.open("devices_messages_audio_retrieve", path, {}, options, headers=headers)
        try:
            yield AsyncDownload(answer)
        finally:
            await answer.aclose()


class AsyncEcg(AsyncEcgCalls):
    @asynccontextmanager
    async def download(
        self,
        device_uid: str,
        id: str,
        format: Literal["json", "csv", "fhir"],
        *,
        options: CallOptions | None = None,
    ) -> AsyncIterator[AsyncDownload]:
        """The waveform in another form, as a stream."""
        path = {"device_uid": device_uid, "id": id}
        query = {"format": format}
        answer = await self._transport.open("devices_ecg_waveform_retrieve", path, query, options)
        try:
            yield AsyncDownload(answer)
        finally:
            await answer.aclose()

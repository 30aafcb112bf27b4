"""What a server answers us, up to a size, however small it was packed. httpx unpacks each piece whole, one packing
after another: some kilobytes may become gigabytes before anybody can count them."""

from __future__ import annotations

import zlib
from typing import Final

import httpx

ACCEPTED: Final = {"Accept-Encoding": "gzip"}
"""For the headers of a request whose answer is read here."""
_PACKED = ("gzip", "x-gzip", "deflate")


class AnswerTooLarge(Exception):
    """A server answers more than we read."""


async def limited_answer(answer: httpx.Response, most: int) -> bytes:
    """The body of an answer that is being streamed. Raises httpx.DecodingError for what cannot be unpacked."""
    encoding = answer.headers.get("content-encoding", "identity").strip().lower() or "identity"
    if encoding not in ("identity", *_PACKED):
        raise httpx.DecodingError(f"packed as {encoding[:40]}", request=answer.request)
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32) if encoding in _PACKED else None
    body = bytearray()
    async for part in answer.aiter_raw():
        try:
            body += part if unpacking is None else unpacking.decompress(part, most + 1 - len(body))
        except zlib.error as error:
            raise httpx.DecodingError(str(error), request=answer.request) from None
        if len(body) > most:
            raise AnswerTooLarge(f"more than {most} bytes")
    return bytes(body)

"""Bytes to lines. What is no text is told at once, and a wrong byte with its line and position."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from itertools import chain

from tenor.errors import BadInput
from tenor.reading import LimitedFile

LONGEST = 64 << 20
"""Characters of one line. More is no conversation."""
_PART = 1 << 16
_NO_TEXT = frozenset({"idna", "punycode", "unicode-escape", "raw-unicode-escape"})
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_KINDS = {
    b"%PDF": "a PDF file",
    b"PK\x03\x04": "a ZIP archive or an Office file",
    b"\xd0\xcf\x11\xe0": "an old Office file",
    b"\x1f\x8b": "a gzip archive",
    b"RIFF": "a recording",
    b"ID3": "a recording",
    b"fLaC": "a recording",
    b"OggS": "a recording",
}
_BARE = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")


def lines(file: LimitedFile, name: str, encoding: str = "") -> Iterator[str]:
    """The lines of a file, each with its end, whatever the end was in the file."""
    head = file.read(_PART)
    found = next((form for mark, form in _MARKS.items() if head.startswith(mark)), "")
    if not found and not encoding:
        _check_text(head, name)
    parts = chain([head], iter(lambda: file.read(_PART), b""))
    rest = ""
    for text in _decoded(parts, name, found or encoding or "utf-8", told=bool(encoding)):
        *whole, rest = (rest + text).split("\n")
        for line in whole:
            yield line + "\n"
        if len(rest) > LONGEST:
            raise BadInput(f"{name} has a line of more than {LONGEST >> 20} MB", "a message belongs on a line")
    if rest:
        yield rest


def _decoded(parts: Iterator[bytes], name: str, encoding: str, *, told: bool) -> Iterator[str]:
    decoder, ends = text_codec(encoding).incrementaldecoder(), io.IncrementalNewlineDecoder(None, translate=True)
    read = line = 0
    for part in chain(parts, [None]):
        try:
            text = decoder.decode(part or b"", part is None)
        except UnicodeDecodeError as error:
            before = error.object[: error.start].decode(encoding, "replace")
            line += 1 + before.count("\n")
            byte = read + len(part or b"") - len(error.object) + error.start
            wrong = error.object[error.start]
            hint = "save it as UTF-8, or name its encoding, for example --encoding cp1252"
            raise BadInput(
                f"{name}, line {line}: byte 0x{wrong:02x} at position {byte} is not {encoding.upper()} text",
                "is that the encoding it was written in?" if told else hint,
            ) from None
        text = ends.decode(text, part is None)
        read, line = read + len(part or b""), line + text.count("\n")
        yield text


def text_codec(encoding: str) -> codecs.CodecInfo:
    """BadInput for what no text is written in: Python has codecs of bytes and of domain names, too."""
    try:
        codec = codecs.lookup(encoding)
        " ".encode(encoding)  # refuses what turns bytes into anything but text
    except (LookupError, ValueError):
        codec = None
    if codec is None or codec.name in _NO_TEXT or codec.incrementaldecoder is None:
        raise BadInput(f"there is no encoding {encoding[:40]!r}", "for example utf-8, utf-16, cp1252, latin-1")
    return codec


def _check_text(head: bytes, name: str) -> None:
    kind = next((kind for magic, kind in _KINDS.items() if head.startswith(magic)), "")
    if kind:
        raise BadInput(f"{name} is {kind}, not text", "export the conversation as CSV, TXT or JSON")
    if head[1::2].count(0) > len(head) // 4 or head[::2].count(0) > len(head) // 4:
        order = "le" if head[1::2].count(0) > head[::2].count(0) else "be"
        raise BadInput(f"{name} looks like UTF-16 without a mark", f"--encoding utf-16-{order}")
    if 0 in head or sum(byte in _BARE for byte in head) > len(head) // 10:
        raise BadInput(f"{name} is no text: it holds bytes that no text has")

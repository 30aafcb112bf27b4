"""E-mails: what their writer wrote, without headers, quoted replies, signatures and attachments.

An `.eml` file is one message. An mbox holds many; those that answer one another are one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.message import EmailMessage
from email.utils import getaddresses
from typing import BinaryIO, cast

from ingest.text.encoding import LONGEST
from ingest.text.formats.email_html import to_text
from ingest.text.formats.email_quotes import own_words
from ingest.text.message import Message
from ingest.text.timestamps import parse
from tenor.errors import BadInput


def read(file: BinaryIO, name: str) -> Iterator[Message]:
    yield _message(_limited(file, name), name)


def read_box(file: BinaryIO, name: str) -> Iterator[Message]:
    threads: dict[str, str] = {}
    for number, raw in enumerate(_box(file, name), 1):
        yield _message(raw, f"{name}, message {number}", threads)


def _limited(file: BinaryIO, name: str) -> bytes:
    raw = file.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise BadInput(f"{name} is an e-mail of more than {LONGEST >> 20} MB")
    return raw


def _box(file: BinaryIO, name: str) -> Iterator[bytes]:
    """The messages of an mbox: each begins with a line `From ...` after an empty one."""
    lines: list[bytes] = []
    size, empty = 0, True
    for line in file:
        if empty and line.startswith(b"From "):
            if lines:
                yield b"".join(lines)
            lines, size = [], 0
        else:
            lines.append(line[1:] if line.startswith(b">From ") else line)
            size += len(line)
            if size > LONGEST:
                raise BadInput(f"{name} holds an e-mail of more than {LONGEST >> 20} MB")
        empty = not line.strip()
    if any(line.strip() for line in lines):
        yield b"".join(lines)


def _message(raw: bytes, place: str, threads: dict[str, str] | None = None) -> Message:
    if not raw.strip():
        raise BadInput(f"{place} is empty")
    mail = message_from_bytes(raw, policy=policy.default)
    if not mail.keys() or not any(mail[key] for key in ("From", "To", "Subject", "Date", "Message-ID")):
        raise BadInput(f"{place} is no e-mail: it has no header", "a chat or a letter goes in a .txt file")
    sender = _sender(mail)
    tags = {"subject": _header(mail, "Subject")} if mail["Subject"] else {}
    if left := [part.get_filename() or part.get_content_type() for part in mail.iter_attachments()]:
        tags["attachments"] = f"{len(left)} left out"
    return Message(
        own_words(_body(mail, place), sender),
        sender,
        parse(_header(mail, "Date")),
        "" if threads is None else _thread(mail, place, threads),
        tags,
    )


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(mail.get(name, "")).split())
    except (HeaderParseError, ValueError, IndexError):  # what a broken header may do to its parser
        return ""


def _sender(mail: EmailMessage) -> str:
    """Name and first half of the address: the company's side is told by words such as `support` in them."""
    [(name, address), *_] = getaddresses([_header(mail, "From")]) or [("", "")]
    return " ".join(part for part in (name, address.partition("@")[0]) if part)


def _thread(mail: EmailMessage, place: str, threads: dict[str, str]) -> str:
    """Which exchange this message belongs to; they are counted."""
    own = _header(mail, "Message-ID") or place
    known = [own, *_header(mail, "References").split(), *_header(mail, "In-Reply-To").split()[:1]]
    thread = next((threads[one] for one in known if one in threads), str(len(set(threads.values())) + 1))
    threads.update(dict.fromkeys(known, thread))
    return thread


def _body(mail: EmailMessage, place: str) -> str:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = cast(str, part.get_content())
    except (LookupError, KeyError):
        raise BadInput(f"{place}: its text is in {part.get_content_charset()!r}, an encoding nobody knows") from None
    return to_text(text) if part.get_content_subtype() == "html" else text

"""E-mails: what their writer wrote, without headers, quoted replies, signatures and attachments.

An `.eml` file is one message. An mbox holds many; those that answer one another are one conversation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from email.message import EmailMessage, MIMEPart
from email.parser import BytesFeedParser
from email.policy import EmailPolicy
from email.utils import getaddresses
from itertools import count
from typing import Any, cast

from ingest.text.encoding import LONGEST, text_codec
from ingest.text.formats.email_html import to_text
from ingest.text.formats.email_quotes import own_words
from ingest.text.message import Message
from ingest.text.timestamps import parse
from tenor.errors import BadInput
from tenor.reading import LimitedFile, reading

LONGEST_HEADER = 4000
"""Characters. The library's parser takes time with the square of them."""
_SLICE = 1 << 16


class _Policy(EmailPolicy):
    """A header on which the library's parser fails says nothing; every one that is looked at looks at the clock."""

    check: Callable[[], None]

    def __init__(self, check: Callable[[], None]) -> None:
        super().__init__(message_factory=EmailMessage)
        object.__setattr__(self, "check", check)  # a policy cannot be changed otherwise

    def header_fetch_parse(self, name: str, value: str) -> Any:
        self.check()
        try:
            return super().header_fetch_parse(name, value[:LONGEST_HEADER])
        except Exception:
            return super().header_fetch_parse(name, "")


def read(file: LimitedFile, name: str) -> Iterator[Message]:
    yield _message(_limited(file, name), name, _Policy(file.check))


def read_box(file: LimitedFile, name: str) -> Iterator[Message]:
    policy, threads = _Policy(file.check), _Threads()
    for number, raw in enumerate(_box(file, name), 1):
        yield _message(raw, f"{name}, message {number}", policy, threads)


def _limited(file: LimitedFile, name: str) -> bytes:
    raw = file.read(LONGEST + 1)
    if len(raw) > LONGEST:
        raise BadInput(f"{name} is an e-mail of more than {LONGEST >> 20} MB")
    return raw


def _box(file: LimitedFile, name: str) -> Iterator[bytes]:
    """The messages of an mbox: each begins with a line `From ...` after an empty one."""
    lines: list[bytes] = []
    size, empty = 0, True
    while line := file.readline(LONGEST + 1):
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


def _message(raw: bytes, place: str, policy: _Policy, threads: _Threads | None = None) -> Message:
    if not raw.strip():
        raise BadInput(f"{place} is empty")
    with reading(place):
        mail = _parsed(raw, policy)
        if not mail.keys() or not any(mail[key] for key in ("From", "To", "Subject", "Date", "Message-ID")):
            raise BadInput(f"{place} is no e-mail: it has no header", "a chat or a letter goes in a .txt file")
        sender = _sender(mail)
        tags = {"subject": _header(mail, "Subject")} if mail["Subject"] else {}
        if left := sum(1 for _ in mail.iter_attachments()):
            tags["attachments"] = f"{left} left out"
        return Message(
            own_words(_body(mail, place), sender),
            sender,
            parse(_header(mail, "Date")),
            "" if threads is None else threads.of(mail, place),
            tags,
        )


def _parsed(raw: bytes, policy: _Policy) -> EmailMessage:
    parser = BytesFeedParser(policy=policy)
    for start in range(0, len(raw), _SLICE):
        parser.feed(raw[start : start + _SLICE])
        policy.check()
    return cast(EmailMessage, parser.close())


def _header(mail: EmailMessage, name: str) -> str:
    return " ".join(str(mail.get(name, "")).split())


def _sender(mail: EmailMessage) -> str:
    """Name and first half of the address: the company's side is told by words such as `support` in them."""
    [(name, address), *_] = getaddresses([_header(mail, "From")]) or [("", "")]
    return " ".join(part for part in (name, address.partition("@")[0]) if part)


class _Threads:
    """Which exchange a message belongs to; they are counted."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._numbers = count(1)

    def of(self, mail: EmailMessage, place: str) -> str:
        own = _header(mail, "Message-ID") or place
        known = [own, *_header(mail, "References").split(), *_header(mail, "In-Reply-To").split()[:1]]
        thread = next((self._known[one] for one in known if one in self._known), "") or str(next(self._numbers))
        self._known |= dict.fromkeys(known, thread)
        return thread


def _body(mail: EmailMessage, place: str) -> str:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    text = _decoded(part, place)
    return to_text(text) if part.get_content_subtype() == "html" else text


def _decoded(part: MIMEPart, place: str) -> str:
    content = cast(bytes | None, part.get_payload(decode=True)) or b""
    charset = part.get_content_charset("ascii")
    try:
        codec = text_codec(charset)
    except BadInput:
        raise BadInput(f"{place}: its text is in {charset[:40]!r}, an encoding nobody knows") from None
    return codec.decode(content, "replace")[0]

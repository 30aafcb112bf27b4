"""What somebody wrote in an e-mail, without what they answer to and without their signature."""

from __future__ import annotations

import re

_REPLY = (
    re.compile(r"^-{2,}\s*(original message|forwarded message|original-nachricht)\s*-{2,}", re.I),
    re.compile(r"^_{10,}\s*$"),
    re.compile(r"^begin forwarded message:", re.I),
)
_WROTE = re.compile(r"^(on|am|le|el)\b(?=.*\d).{5,200}\b(wrote|schrieb|a écrit|escribió)\s*+:?\s*+$", re.I | re.S)
_OUTLOOK = re.compile(r"^\*?(from|von)\s*:\*?\s+\S.*\n\*?(sent|date|gesendet|to)\s*:", re.I)
_SIGNATURE = re.compile(
    r"^(--\s?$|sent from my \w+|get outlook for |(?:(?:best|kind|warm|many|with kind)\s+)?regards\b[\s,.!-]*$"
    r"|(?:yours )?(?:sincerely|faithfully|truly)\b[\s,.!-]*$|(?:all the )?best(?: wishes)?[\s,.!-]*$|cheers[\s,.!-]*$)",
    re.I,
)
_SHORT = 12
"""Lines that a closing and a signature may have; more than that is text."""


def own_words(text: str, sender: str = "") -> str:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    lines = [line for line in lines[: _reply(lines)] if not line.lstrip().startswith(">")]
    while lines and not lines[-1].strip():
        lines.pop()
    for number in range(len(lines)):
        certain = lines[number].rstrip() == "--"  # a line of two dashes is a signature's by convention
        if _SIGNATURE.match(lines[number]) and (certain or len(lines) - number <= _SHORT):
            lines = lines[:number]
            break
    while lines and set(lines[-1].lower().strip(" ,.-").split()) <= set(sender.lower().split()):
        lines.pop()  # empty, or nothing but the name
    return "\n".join(lines).strip()


def _reply(lines: list[str]) -> int:
    """The line from which on somebody else is quoted."""
    for number, line in enumerate(lines):
        if any(form.match(line) for form in _REPLY) or _OUTLOOK.match("\n".join(lines[number : number + 2])):
            return number
        # "On Tuesday ... wrote:" may be broken over two lines
        if _WROTE.match(line) or (len(line) > 20 and _WROTE.match("\n".join(lines[number : number + 2]))):
            return number
    return len(lines)

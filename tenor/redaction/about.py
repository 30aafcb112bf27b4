"""Card numbers in what is known about a call before a word of it is said: its queue, its attributes, its id.

Only whole card numbers are looked for here. What else a platform says is what the call is known by, and stays.
"""

from __future__ import annotations

import msgspec

from tenor.events import Call, Redact
from tenor.redaction.masking import masked_text
from tenor.redaction.numbers.runs import is_issued
from tenor.redaction.patterns import PatternRedactor
from tenor.redaction.plain import plain

_CARDS = PatternRedactor(("card",))


def without_cards(info: Call, redact: Redact | None) -> Call:
    """As it may be published in this mode. The customer stays: a number there is the name of somebody."""
    if redact == "off":
        return info
    return msgspec.structs.replace(
        info,
        site=hidden(info.site),
        queue=hidden(info.queue),
        agent=hidden(info.agent),
        attributes={hidden(name): hidden(value) for name, value in info.attributes.items()},
    )


def hidden(text: str) -> str:
    """The text without card numbers."""
    found = (one for one in _CARDS.redact(text, ()).spans if one.kind == "card")
    return masked_text(text, [span for span in found if is_issued(plain(text[span.start : span.end]).text)])

"""Any words: for slots that take what was said as it is.

value the line without hesitations and politeness
"""

from __future__ import annotations

from dialog.values import normalise
from dialog.values.types import ParseContext, Value


class TextParser:
    """Reads type `text`. It finds nothing by itself: only a question makes a line its value."""

    def find(self, line: str, context: ParseContext) -> list[Value]:
        return []

    def answer(self, line: str, context: ParseContext) -> Value | None:
        words, start, end = normalise.core(line, prepositions=False)
        if not words:
            return None
        return Value(type="text", text=words, start=start, end=end, value=" ".join(words.split()))

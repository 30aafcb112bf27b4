"""The words of an HTML page or e-mail."""

from __future__ import annotations

from html.parser import HTMLParser

# fmt: off
_SILENT = frozenset({"script", "style", "head", "title", "template", "noscript", "blockquote"})
"""What holds no words of the writer; a block quotation in an e-mail is what it answers."""
_BLOCKS = frozenset({
    "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre", "section", "article",
    "hr",
})
_QUOTES = ("gmail_quote", "gmail_attr", "yahoo_quoted", "moz-cite-prefix", "divrplyfwdmsg")
_ENDLESS = frozenset({
    "br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr",
})
# fmt: on


def to_text(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.words).split("\n"))
    return "\n".join(lines)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self._silent: list[str] = []
        """Open elements from the first silent one on."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and not self._silent:
            self.words.append("\n\n" if tag == "p" else "\n")
        if tag in _ENDLESS:
            return
        named = " ".join(value or "" for key, value in attrs if key in ("class", "id")).lower()
        if self._silent or tag in _SILENT or any(quote in named for quote in _QUOTES):
            self._silent.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS and not self._silent:
            self.words.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:  # an element that was never closed ends with the one around it
            del self._silent[len(self._silent) - 1 - self._silent[::-1].index(tag) :]
        elif tag in _BLOCKS and not self._silent:
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(" ".join(data.split("\n")))

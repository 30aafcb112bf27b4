"""The words of an HTML page or e-mail.

Read in one pass, whatever it holds: Python's own HTML parser takes time with the square of tags that are never closed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape

# fmt: off
_SILENT = frozenset({"script", "style", "head", "title", "template", "noscript", "blockquote"})
"""What holds no words of the writer; a block quotation in an e-mail is what it answers."""
_RAW = frozenset({"script", "style"})
"""What is no HTML up to its own end."""
_BLOCKS = frozenset({
    "p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre", "section", "article",
    "hr",
})
_QUOTES = ("gmail_quote", "gmail_attr", "yahoo_quoted", "moz-cite-prefix", "divrplyfwdmsg")
_ENDLESS = frozenset({
    "br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr",
})
# fmt: on
_NAME = re.compile(r"(/?)([a-zA-Z][^\s/>]*)")
_REST = re.compile(r"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
"""Of a tag: its attributes, and its end, which is not within quotes."""
_NAMED = re.compile(r"""\b(?:class|id)\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s"'>]++)""", re.I)


def to_text(html: str) -> str:
    words = _Words()
    for text, tag, attributes in _tokens(html):
        words.hear(text)
        if tag.startswith("/"):
            words.end(tag[1:])
        elif tag:
            words.begin(tag, attributes)
    lines = (" ".join(line.split()) for line in "".join(words.heard).split("\n"))
    return "\n".join(lines)


def _tokens(html: str) -> Iterator[tuple[str, str, str]]:
    """What stands before a tag, the tag's name, with a slash where it closes, and its attributes. As in browsers, what
    is never closed goes to the end of the page."""
    at, quoted = 0, True
    while (found := html.find("<", at)) >= 0:
        name = _NAME.match(html, found + 1)
        if name is None and not html.startswith(("!", "?", "/"), found + 1):
            yield html[at : found + 1], "", ""
            at = found + 1
            continue
        if name is None:  # a comment, or what browsers take for one
            yield html[at:found], "", ""
            at = _after(html, "-->" if html.startswith("!--", found + 1) else ">", found)
            continue
        rest = _REST.match(html, name.end()) if quoted else None
        quoted = rest is not None  # a quotation that is open to the end: from here on, tags end at the next bracket
        end = rest.end() if rest else _after(html, ">", name.end())
        tag = name[2].lower()
        yield html[at:found], name[1] + tag, html[name.end() : end]
        at = end
        if tag in _RAW and not name[1]:
            close = re.compile(rf"</{tag}", re.I).search(html, end)
            at = close.start() if close else len(html)
    yield html[at:], "", ""


def _after(html: str, mark: str, at: int) -> int:
    found = html.find(mark, at)
    return found + len(mark) if found >= 0 else len(html)


class _Words:
    """What is heard of a page, tag by tag."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._silent: list[str] = []
        """Open elements from the first silent one on."""
        self._open = Counter[str]()
        """How many of each they are."""

    def hear(self, text: str) -> None:
        if text and not self._silent:
            self.heard.append(unescape(text).replace("\n", " "))

    def begin(self, tag: str, attributes: str) -> None:
        if tag in _BLOCKS and not self._silent:
            self.heard.append("\n\n" if tag == "p" else "\n")
        if tag in _ENDLESS or attributes.endswith("/>"):
            return
        if self._silent or tag in _SILENT or _quotes(attributes):
            self._silent.append(tag)
            self._open[tag] += 1

    def end(self, tag: str) -> None:
        if self._open[tag]:  # an element that was never closed ends with the one around it
            closed = ""
            while closed != tag:
                closed = self._silent.pop()
                self._open[closed] -= 1
        elif tag in _BLOCKS and not self._silent:
            self.heard.append("\n")


def _quotes(attributes: str) -> bool:
    named = " ".join(_NAMED.findall(attributes)).lower()
    return any(quote in named for quote in _QUOTES)

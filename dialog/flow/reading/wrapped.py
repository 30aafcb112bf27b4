"""Files whose long lines were broken by a printer or a mail program, so that YAML cannot read them."""

from __future__ import annotations

import yaml

from tenor.yaml.nodes import DEEPEST, Fault

MOST = 50
"""Broken lines that are looked for in one file."""


def without_wrapped_lines(text: str) -> tuple[str, list[Fault]]:
    """The text with every line left empty that is only the rest of a comment or sentence, and a fault for each.

    Lines keep their numbers, so that whatever else is wrong is told at its place.
    """
    lines = text.split("\n")
    faults: list[Fault] = []
    while len(faults) < MOST:
        mark = _unreadable("\n".join(lines))
        if mark is None or not _is_loose(lines, mark.line):
            break
        words = lines[mark.line].strip()
        shown = words if len(words) <= 50 else f"{words[:50]}..."
        column = len(lines[mark.line]) - len(lines[mark.line].lstrip()) + 1
        above = "comment" if "#" in lines[mark.line - 1] else "text"
        message = f"{shown!r} looks like the rest of the {above} above, wrapped onto a line of its own"
        faults.append(Fault(mark.line + 1, column, message))
        lines[mark.line] = ""
    return "\n".join(lines), faults


def _unreadable(text: str) -> yaml.Mark | None:
    """Where a key without colon begins."""
    depth = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                return None
    except yaml.scanner.ScannerError as error:
        return error.context_mark
    except yaml.YAMLError:
        return None
    return None


def _is_loose(lines: list[str], line: int) -> bool:
    words = lines[line].strip() if 0 < line < len(lines) else ""
    return bool(words) and not words.startswith(("-", "#", '"', "'", "{", "[", "&", "*", "!", "|", ">", "%", "@", "`"))

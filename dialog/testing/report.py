"""What came of conversation tests, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from dialog.testing.outcome import ConversationOutcome
from dialog.testing.suite import SuiteResult

LONGEST: Final = 300
"""Characters of a line of the conversation."""


def told(result: SuiteResult, *, coverage: bool = False) -> Iterator[str]:
    """Line by line: each failure with the conversation so far, then the sums."""
    for outcome in result.failed:
        yield from _failure(outcome)
        yield ""
    if coverage:
        missing = [("state", result.coverage.missing_states()), ("transition", result.coverage.missing_ways())]
        for kind, names in missing:
            yield from (f"not covered: {kind} {name}" for name in names)
    failed, count = len(result.failed), len(result.outcomes)
    seconds = sum(one.took_s for one in result.outcomes)
    passed = f"{count} conversation{'' if count == 1 else 's'} passed"
    verdict = f"{failed} of {count} conversations failed" if failed else passed
    yield f"{verdict} in {seconds:.1f} s; covered: {result.coverage.summary()}"


def as_json(result: SuiteResult) -> dict[str, Any]:
    return {
        "passed": len(result.outcomes) - len(result.failed),
        "failed": len(result.failed),
        "conversations": [_as_json(one) for one in result.outcomes],
        "coverage": result.coverage.as_json(),
    }


def _failure(outcome: ConversationOutcome) -> Iterator[str]:
    yield f"FAILED  {outcome.where.file}:{outcome.where.line}: {outcome.name}"
    for line in outcome.transcript:
        yield f"  {line.ms / 1000:7.1f} s  {line.speaker:9}  {_short(line.text)}"
    for one in outcome.mismatches:
        yield f"  line {one.where.line}:"
        yield f"    expected  {_short(one.expected)}"
        yield f"    got       {_short(one.got)}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def _as_json(outcome: ConversationOutcome) -> dict[str, Any]:
    return {
        "file": outcome.where.file,
        "line": outcome.where.line,
        "name": outcome.name,
        "passed": outcome.passed,
        "seconds": round(outcome.took_s, 4),
        "mismatches": [
            {"line": one.where.line, "expected": one.expected, "got": one.got} for one in outcome.mismatches
        ],
        "transcript": [{"ms": line.ms, "who": line.speaker, "text": line.text} for line in outcome.transcript],
    }

"""Golden answers: what a model must answer after it is loaded, or it is not the model that was judged.

`golden.jsonl` holds about ten lines, each a sentence (or a recording of the folder) and the answers that the model gave
where it was made: {"text": "I lost my card", "answers": {"sentiment": "neutral", "intent": "card_replacement"}}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from tenor.errors import BadInput

FILE = "golden.jsonl"
MOST = 100
"""Lines that are asked; more would keep a worker from its work."""


class GoldenAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    text: str = ""
    """What is asked,"""
    audio: str = ""
    """or, of a recogniser, the file of the folder that it hears."""
    answers: dict[str, str]
    """By head; of a recogniser `text`."""


Ask = Callable[[Sequence[GoldenAnswer]], Sequence[dict[str, str]]]
"""What a model answers to each."""


def read_golden(folder: Path) -> list[GoldenAnswer]:
    """None where the folder has no such file."""
    path = folder / FILE
    try:
        lines = path.read_bytes().splitlines()
        return [msgspec.json.decode(line, type=GoldenAnswer) for line in lines if line.strip()][:MOST]
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: {error}") from None


def check_golden(folder: Path, model: str, ask: Ask) -> None:
    """BadInput when the model answers otherwise than where it was made. It names lines and not words: what it says goes
    to logs and pages."""
    golden = read_golden(folder)
    if not golden:
        return
    wrong = [
        (number, head if one.audio else f"{head} {answered.get(head)!r} instead of {wanted!r}")
        for number, (one, answered) in enumerate(zip(golden, ask(golden), strict=True), start=1)
        for head, wanted in one.answers.items()
        if answered.get(head) != wanted
    ]
    if wrong:
        lines, (line, what) = len({line for line, _ in wrong}), wrong[0]
        raise BadInput(
            f"{model} answers {lines} of {len(golden)} golden sentences otherwise than where it was made; "
            f"line {line}: {what}",
            "export it again where it was made, or take a version that was made for this kind of processor",
        )

"""A small company's labelled sentences, with an intent and a feeling of its own."""

from __future__ import annotations

from pathlib import Path

import msgspec

from finetune.recipes.base import TrainingRow

KAYAKS = ("the red kayak", "a double kayak", "our paddle board", "two canoes", "the blue kayak", "a small canoe")
MOODS = {
    "negative": ("{} is broken and nobody cares", "i am so angry about {}", "{} was a horrible mistake"),
    "positive": ("{} is wonderful thank you so much", "i love {}", "we had a fantastic day with {}"),
    "seasick": ("{} made me dizzy on the waves", "i felt ill in {} out on the sea", "{} rocked until i was sick"),
}
WISHES = {
    "refund": ("i want my money back for {}", "please refund {}", "can i return {} and get my money"),
    "kayak_rental": ("i would like to rent {}", "can i hire {} for an hour", "is {} free on the river today"),
}


def company_rows(*, split: bool = True) -> list[TrainingRow]:
    """Every pattern with every thing; the last thing of each is for validation."""
    found: list[TrainingRow] = []
    for kind, patterns in (("sentiment", MOODS), ("intent", WISHES)):
        for label, forms in patterns.items():
            for number, thing in enumerate(KAYAKS):
                for form in forms:
                    found.append(
                        TrainingRow(
                            id=str(len(found)),
                            group=thing,
                            text=form.format(thing),
                            role="caller",
                            split="val" if split and number + 1 == len(KAYAKS) else "train",
                            **{kind: label},  # type: ignore[arg-type]
                        )
                    )
    return found


def write_rows(path: Path) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in company_rows()))
    return path

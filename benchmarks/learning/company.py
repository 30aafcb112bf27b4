"""What 500 corrections of a company with words and intents of its own are worth.

    python -m benchmarks.learning.company [recipe ...]     (without one: head; layers needs torch)

It is done as people do it, in an empty home: ten corrections of each new intent go into the file of intents, `tenor
labels import` brings all of them in, `tenor dataset make` freezes them, `tenor finetune` trains. As deployed, with that
file, and after the training, the model reads sentences by other hands (`observatory/README.md`), and the frozen ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import yaml

from finetune.corpus import call_sentences, datasets
from finetune.evaluate.scores import accuracy, macro_f1
from finetune.export.language_folder import KEPT
from nlp.inference.backend import open_local
from nlp.inference.types import SentenceContext
from tenor.model_store import read_card
from tenor.settings import LanguageSettings
from tenor.taxonomy.intents import DEFAULT, read

FOLDER = Path(__file__).parent / "observatory"
EXAMPLES, AT_ONCE = 10, 64
LABELLERS = ("ada", "ben", "chiara", "dan")
GAIN, LOSS, MINUTES = 10.0, 1.0, 15.0
"""Points won at least, points lost at most, and how long it may take."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence, and what people say of it."""

    text: str
    sentiment: str
    intent: str
    also: tuple[str, ...] = ()
    context: SentenceContext = SentenceContext()

    @property
    def intents(self) -> tuple[str, ...]:
        return self.intent, *self.also


Scores = dict[str, float]
"""In percent; what begins with `frozen` may lose a point, everything else is to win."""


def rows_of(name: str) -> list[Row]:
    return [msgspec.json.decode(line, type=Row) for line in datasets.lines(FOLDER / f"{name}.jsonl.gz")]


def frozen_hands() -> list[Row]:
    found = call_sentences.read(call_sentences.DEFAULT, read()).apart
    contexts = [SentenceContext(row.role, row.said_before) for row in found]
    return [
        Row(text=row.text, sentiment=row.sentiment, intent=row.intent, also=row.also, context=context)
        for row, context in zip(found, contexts, strict=True)
    ]


def own_intents() -> dict[str, str]:
    described: dict[str, str] = yaml.safe_load((FOLDER / "intents.yaml").read_text("utf-8"))
    return described


def write_intents(path: Path, corrections: Sequence[Row]) -> None:
    """Tenor's own, and the company's with ten of its corrections each."""
    intents = yaml.load(DEFAULT.read_text("utf-8"), yaml.BaseLoader)  # a yes is a word here
    for name, description in own_intents().items():
        said = [row.text for row in corrections if row.intent == name]
        some = said[:: len(said) // EXAMPLES][:EXAMPLES]
        intents[name] = {"description": description, "task": True, "examples": some}
    path.write_text(yaml.safe_dump(intents, sort_keys=False), "utf-8")


def scores(language: LanguageSettings, folder: Path | None, apart: Sequence[Row], hands: Sequence[Row]) -> Scores:
    """Of the model in a folder, or of the one that ships."""
    backend = open_local(language, folder)

    def said(texts: Sequence[str], contexts: Sequence[SentenceContext]) -> tuple[list[str], list[str]]:
        parts = [slice(at, at + AT_ONCE) for at in range(0, len(texts), AT_ONCE)]
        found = [one for part in parts for one in backend.analyze(list(texts[part]), list(contexts[part]))]
        return [one.sentiment for one in found], [one.intent for one in found]

    def read_rows(rows: Sequence[Row]) -> tuple[list[str], list[str]]:
        return said([row.text for row in rows], [row.context for row in rows])

    moods, wishes = read_rows(apart)
    known = [(row, wish) for row, wish in zip(apart, wishes, strict=True) if row.intent not in own_intents()]
    hand_moods, hand_wishes = read_rows(hands)
    found = {
        "intent macro-F1": macro_f1([row.intent for row in apart], wishes),
        "sentiment macro-F1": macro_f1([row.sentiment for row in apart], moods),
        "intent of those that were known before": sum(row.intent == wish for row, wish in known) / len(known),
        "frozen hands: sentiment macro-F1": macro_f1([row.sentiment for row in hands], hand_moods),
        "frozen hands: intent": sum(
            wish in row.intents for row, wish in zip(hands, hand_wishes, strict=True)
        ) / len(hands),
    }  # fmt: skip
    for at, name in enumerate(("sentiment", "intents")):
        settled = datasets.evaluation(name)
        answers = said([row["text"] for row in settled], [SentenceContext()] * len(settled))[at]
        found[f"frozen sentences: {name}"] = accuracy([row["label"] for row in settled], answers)
    return {name: 100 * value for name, value in found.items()}


def tenor(home: Path, *arguments: str) -> str:
    paths = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tenor", *arguments]
    done = subprocess.run(
        command, cwd=home, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"tenor {' '.join(arguments)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


@contextmanager
def company() -> Iterator[tuple[Path, LanguageSettings]]:
    """A home where the corrections are a dataset."""
    corrections = rows_of("corrections")
    with tempfile.TemporaryDirectory(prefix="tenor-bench-") as folder:
        home = Path(folder)
        intents = home / "intents.yaml"
        write_intents(intents, corrections)
        (home / "tenor.toml").write_text(f'home = "home"\n[language]\nintents = "{intents}"\n')
        labels = [
            {
                "text": row.text,
                "sentiment": row.sentiment,
                "intent": row.intent,
                "author": LABELLERS[at % len(LABELLERS)],
            }
            for at, row in enumerate(corrections)
        ]
        (home / "labels.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, labels)))
        tenor(home, "labels", "import", "labels.jsonl")
        print(tenor(home, "dataset", "make", "northlight"))
        yield home, LanguageSettings(intents=str(intents))


def report(recipe: str, deployed: Scores, named: Scores, after: Scores, minutes: float, kept: float | None) -> bool:
    """`named`: as deployed, with ten corrections of each new intent in the file of intents."""
    print(f"\n{recipe:44}{'deployed':>10}{'with file':>10}{'after':>8}")
    for name, value in deployed.items():
        print(f"{name:44}{value:10.1f}{named[name]:10.1f}{after[name]:8.1f}  {after[name] - value:+.1f}")
    print(f"{'minutes, of two cores that others use, too':44}{minutes:28.1f}  (at most {MINUTES:.0f})")
    if kept is not None:
        print(f"{'int8 against full precision':44}{100 * kept:27.1f}%")
    lost = [name for name, value in deployed.items() if name.startswith("frozen") and after[name] < value - LOSS]
    won = after["intent macro-F1"] - deployed["intent macro-F1"]
    passed = won >= GAIN and not lost
    missed = f"missed: {won:+.1f} points of {GAIN:.0f}; lost: {', '.join(lost) or 'nothing'}"
    print(f"reached: {won:+.1f} points" if passed else missed)
    return passed


def main(recipes: Sequence[str] = ("head",)) -> bool:
    """After a recipe's name may stand parameters: layers,kept=0.5"""
    apart, hands = rows_of("kept-apart"), frozen_hands()
    passed = True
    with company() as (home, language):
        deployed = scores(LanguageSettings(), None, apart, hands)
        named = scores(language, None, apart, hands)
        for number, told in enumerate(recipes):
            recipe, *values = told.split(",")
            set_ = [word for value in values for word in ("--set", value)]
            began = time.monotonic()
            tenor(home, "finetune", "northlight", "--recipe", recipe, "--out", f"{number}-{recipe}", *set_)
            minutes = (time.monotonic() - began) / 60
            made = home / f"{number}-{recipe}"
            after = scores(language, made, apart, hands)
            passed &= report(told, deployed, named, after, minutes, read_card(made).figures.get(KEPT))
    return passed


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:] or ("head",)))

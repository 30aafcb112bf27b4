"""Makes not_misspelt.txt: words that are a letter or two away from one of the shop's and are words of their own.

    python -m dialog.fulfilment.sample.data.make_not_misspelt

The words are those of the language model's tokenizer, BERT's English word pieces (Apache-2.0): every whole word that
the matchers would take for a misspelt product, department, brand or store. To be made again when the catalogue grows.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dialog.fulfilment.sample.matching import Matcher
from dialog.fulfilment.sample.shop import matchers
from dialog.fulfilment.sample.words import words

HERE = Path(__file__).parent
TOKENIZER = Path(__file__).parents[4] / "nlp" / "models" / "tenor-encoder-1" / "tokenizer.json"

# These do mean the shop's word, which is spelt otherwise in the United States, or by people in a hurry.
OTHER_SPELLINGS = {"centre", "colour", "harbour", "jewellery", "litre", "stationary", "tyre"}


def whole_words(tokenizer: Path = TOKENIZER) -> Iterator[str]:
    """Without pieces of words, signs and other scripts; in singular, as matchers compare them."""
    for piece in json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]:
        if piece.isascii() and piece.isalpha():
            yield from words(piece)


def not_misspelt(ordinary: Iterable[str], known: Sequence[Matcher]) -> list[str]:
    mended = {word for word in ordinary if any(matcher.mends(word) for matcher in known)}
    return sorted(mended - OTHER_SPELLINGS)


def main() -> None:
    text = textwrap.fill(" ".join(not_misspelt(whole_words(), matchers())), 118, break_on_hyphens=False)
    (HERE / "not_misspelt.txt").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

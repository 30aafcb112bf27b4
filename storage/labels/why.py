"""Why a person was asked about a sentence: what a label may be used for depends on it.

Only sentences that were drawn at random say how good a model is; those that were chosen because the model was unsure
say that it is worse than it is.
"""

from __future__ import annotations

from typing import Literal, get_args

Why = Literal["sample", "unsure", "disputed", "doubted", "novel", "second", "rare", "control", "call", "import"]
WHYS: tuple[Why, ...] = get_args(Why)
MEANING: dict[Why, str] = {
    "sample": "drawn at random",
    "unsure": "the model is not sure",
    "disputed": "people see this differently from the model, or from each other",
    "doubted": "the model is sure of another answer than the one a person gave",
    "novel": "unlike anything that the model has learned",
    "second": "others have looked at it",
    "rare": "so that every label is looked at",
    "control": "others have looked at it",
    "call": "corrected on the page of its call",
    "import": "brought in from a file",
}
"""For people to read. A control sentence, whose answer is known, is not told as such."""

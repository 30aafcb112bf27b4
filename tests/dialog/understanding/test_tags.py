"""One tag for each word, as NeMo's files have them."""

from __future__ import annotations

from dialog.understanding.tags import CachedUnderstander, bio_tags
from dialog.understanding.types import Intent, Reading, Span


def span(text: str, words: str, slot: str) -> Span:
    start = text.index(words)
    return Span(slot=slot, text=words, start=start, end=start + len(words))


def test_punctuation_stays_on_its_word_and_a_long_value_goes_on() -> None:
    text = "how much is  oat milk, in boston?"
    spans = (span(text, "how much", "interrogative.manner"), span(text, "oat milk", "item.type"))
    assert bio_tags(text, (*spans, span(text, "boston", "location"))) == (
        "B-interrogative.manner", "I-interrogative.manner", "O", "B-item.type", "I-item.type", "O", "B-location",
    )  # fmt: skip


def test_two_values_side_by_side_both_begin() -> None:
    text = "red jeans"
    assert bio_tags(text, (span(text, "red", "item.color"), span(text, "jeans", "item.type"))) == (
        "B-item.color", "B-item.type",
    )  # fmt: skip
    assert bio_tags("", ()) == bio_tags("   ", ()) == ()


def test_a_line_is_read_once() -> None:
    class Counting:
        times = 0

        def read(self, text: str) -> Reading:
            self.times += 1
            return Reading(text=text, intents=(Intent("price_check", 1.0),))

    counting = Counting()
    understander = CachedUnderstander(counting)
    assert understander.read("a") is understander.read("a")
    understander.read("b")
    assert counting.times == 2

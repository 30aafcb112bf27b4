"""Splits that cannot leak.

    holdout    a tenth of the customers, chosen by a hash of who they are: the same ones in every version, so none of
               them is ever trained on. A row is in it only if its labels can be trusted for measuring.
    test       of the others the calls of the newest fifth of the rows; where no times are known, a fifth by customer
    val        a tenth of what is left, by customer
    train      the rest: without customers who are in test, and without sentences of four words and more that
               test, holdout or the frozen sentences have, too

Who makes a dataset cannot switch this off. Where no customer is known, the call stands for the customer.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

HOLDOUT_SHARE, TEST_SHARE, VAL_SHARE = 0.1, 0.2, 0.1
LEAST_WORDS = 4
"""Shorter sentences ("yes", "thank you") are said by everybody."""
_WORD = re.compile(r"\w+")


class SplitRow(NamedTuple):
    call: str
    group: str
    at: float
    """When the call began."""
    words: str
    """As `plain_words` has them."""
    trusted: bool
    """Whether its labels are good enough for the hold-out."""


class SplitResult(NamedTuple):
    splits: list[str]
    """Of each row; empty: left out."""
    left_out: dict[str, int]
    """How many, by reason."""


def plain_words(text: str) -> str:
    """What two sentences have in common that say the same."""
    return " ".join(_WORD.findall(text.lower()))


def group_of(customer: str, call: str) -> str:
    """Who a row belongs to, without saying who that is."""
    of = f"customer {customer}" if customer else f"call {call}"
    return hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_held_out(group: str) -> bool:
    return _share(f"holdout {group}") < HOLDOUT_SHARE


def assign(rows: Sequence[SplitRow], frozen: Collection[str] = ()) -> SplitResult:
    """`frozen`: sentences that every model is measured with, as plain words."""
    left_out: Counter[str] = Counter()
    splits = [""] * len(rows)
    others: list[int] = []
    for number, row in enumerate(rows):
        if not is_held_out(row.group):
            others.append(number)
        elif row.trusted:
            splits[number] = "holdout"
        else:
            left_out["held out, and not labelled well enough to measure with"] += 1
    is_test = _chosen_for_test([rows[number] for number in others])
    for number in others:
        if is_test(rows[number]):
            splits[number] = "test"
    measured = {rows[number].group for number in others if splits[number] == "test"}
    said = {row.words for row, split in zip(rows, splits, strict=True) if split} | set(frozen)
    rest: dict[str, list[int]] = defaultdict(list)
    for number in others:
        row = rows[number]
        if splits[number]:
            continue
        if row.group in measured:
            left_out["the customer is in test"] += 1
        elif is_long(row.words) and row.words in said:
            left_out["said in test, holdout or the frozen sentences"] += 1
        else:
            rest[row.group].append(number)
    for group, split in with_val({group: len(numbers) for group, numbers in rest.items()}).items():
        for number in rest[group]:
            splits[number] = split
    return SplitResult(splits, dict(left_out))


def with_val(sizes: dict[str, int]) -> dict[str, str]:
    """Of each group whether it is for training or for choosing among models."""
    chosen = _share_of_groups(sizes, VAL_SHARE, "val")
    return {group: "val" if group in chosen else "train" for group in sizes}


def _share_of_groups(sizes: dict[str, int], share: float, purpose: str) -> set[str]:
    """Groups that together have about this share of the rows."""
    wanted = share * sum(sizes.values())
    count, chosen = 0, set()
    for group in sorted(sizes, key=lambda group: (_share(f"{purpose} {group}"), group)):
        if count + sizes[group] <= wanted * 1.2:
            chosen.add(group)
            count += sizes[group]
        if count >= wanted * 0.8:
            break
    return chosen


def is_long(words: str) -> bool:
    return words.count(" ") + 1 >= LEAST_WORDS


def _chosen_for_test(rows: Sequence[SplitRow]) -> Callable[[SplitRow], bool]:
    if len({row.at for row in rows}) == 1:  # as in most sets of others, which say no times
        chosen = _share_of_groups(Counter(row.group for row in rows), TEST_SHARE, "test")
        return lambda row: row.group in chosen
    cut = _test_from(rows)
    return lambda row: row.at >= cut


def _test_from(rows: Sequence[SplitRow]) -> float:
    """When the newest fifth begins. Calls that began at the same moment are on the same side."""
    sizes: Counter[float] = Counter(row.at for row in rows)
    counted = 0
    for at in sorted(sizes, reverse=True):
        counted += sizes[at]
        if counted >= TEST_SHARE * len(rows):
            return at
    return float("inf")


def _share(text: str) -> float:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64

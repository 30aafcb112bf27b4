"""Datasets as cards: what each holds, who made it, when it was last used, and whether it is near the computation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from dashboard.ui import formatting, navigation
from dashboard.ui.theme import SENTIMENT_COLOURS, SERIES
from storage.datasets.cache import CacheEntry, entry_name
from storage.datasets.manifest import SPLITS, DatasetVersion

MAKERS = 4
"""Initials on a card."""
LABELS = 8
"""Labels that are shown at once; the others on a click."""


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    name: str
    versions: tuple[DatasetVersion, ...]
    """The oldest first."""
    cached: frozenset[int]
    """Numbers of the versions in the cache."""
    active_at: float
    """When it was last made, trained with or read from the cache."""

    @property
    def newest(self) -> DatasetVersion:
        return self.versions[-1]

    @property
    def makers(self) -> list[str]:
        """Who made its versions, the last one first."""
        return list(dict.fromkeys(version.by for version in reversed(self.versions) if version.by))


def summaries(
    versions: Iterable[DatasetVersion], entries: Sequence[CacheEntry], trained: Mapping[str, float]
) -> list[DatasetSummary]:
    """The one last used first. `trained`: when the last run with a version began."""
    used = {entry.name: entry.used_at for entry in entries}
    found = []
    for name, group in groupby(versions, key=lambda version: version.name):
        own = tuple(group)
        times = [max(one.made_at, used.get(entry_name(one), 0.0), trained.get(one.reference, 0.0)) for one in own]
        cached = frozenset(one.version for one in own if entry_name(one) in used)
        found.append(DatasetSummary(name, own, cached, max(times)))
    return sorted(found, key=lambda one: -one.active_at)


def initials(name: str) -> str:
    """`grace.linden` -> GL, `ada` -> AD."""
    parts = [part for part in name.replace("-", ".").replace("_", ".").replace(" ", ".").split(".") if part]
    return ("".join(part[0] for part in parts[:2]) if len(parts) > 1 else name[:2]).upper()


def rows_of(version: DatasetVersion) -> int:
    return sum(version.counts.values())


def card(one: DatasetSummary, *, chosen: bool) -> str:
    """The part above the buttons."""
    makers = "".join(
        f'<i title="{escape(name, quote=True)}">{escape(initials(name))}</i>' for name in one.makers[:MAKERS]
    )
    link = escape(navigation.address("datasets", dataset=one.name), quote=True)
    tone, hot = ("hot", f"{len(one.cached)} cached") if one.cached else ("cold", "not cached")
    return (
        f'<a class="t-set{" chosen" if chosen else ""}" data-dataset="{escape(one.name, quote=True)}" href="{link}" '
        f'target="_self"><h4>{escape(one.name)}<span class="makers">{makers}</span></h4>'
        f"<p><b>{formatting.count(rows_of(one.newest))}</b> rows · <b>{formatting.size(one.newest.bytes)}</b></p>"
        f'<p>{formatting.counted(len(one.versions), "version")} · <span class="{tone}">{hot}</span></p>'
        f"{balance_bar(one.newest)}<small>active {formatting.ago(one.active_at)}</small></a>"
    )


def balance_bar(version: DatasetVersion) -> str:
    """Shares of the labels of one kind, the sentiment's if there are any."""
    kind = next((kind for kind in ("sentiment", "intent") if version.labels.get(kind)), "")
    if not kind:
        return '<div class="t-balance none" title="no labels"></div>'
    counts = dict(sorted(version.labels[kind].items(), key=lambda pair: -pair[1]))
    return _bar(counts, colours_of(counts), formatting.words(kind))


def split_bar(version: DatasetVersion) -> str:
    counts = {split: version.counts.get(split, 0) for split in SPLITS}
    colours = dict(zip(SPLITS, SERIES, strict=False))
    legend = "".join(
        f'<span><i style="background:{colours[split]}"></i>{split} <b>{formatting.count(count)}</b></span>'
        for split, count in counts.items()
    )
    return f'{_bar(counts, colours, "Splits")}<div class="t-legend">{legend}</div>'


def label_bars(counts: Mapping[str, int]) -> str:
    """Every label with its share, the most frequent first."""
    total, most = sum(counts.values()) or 1, max(counts.values(), default=1)
    colours = colours_of(counts)
    rows = [
        f'<div class="t-row"><span class="what">{escape(formatting.words(label))}'
        f'<i class="t-bar" style="width:{count / most:.1%};background:{colours[label]}"></i></span>'
        f'<span class="felt">{formatting.count(count)} ({formatting.share(count / total)})</span></div>'
        for label, count in sorted(counts.items(), key=lambda pair: -pair[1])
    ]
    rest = f"<summary>{len(rows) - LABELS} more</summary>{''.join(rows[LABELS:])}"
    more = f'<details class="t-more">{rest}</details>' if len(rows) > LABELS else ""
    return f'<div class="t-rows t-two">{"".join(rows[:LABELS])}{more}</div>'


def colours_of(labels: Collection[str]) -> dict[str, str]:
    """Sentiments have the colours that they have everywhere."""
    return {label: SENTIMENT_COLOURS.get(label, SERIES[number % len(SERIES)]) for number, label in enumerate(labels)}


def _bar(counts: Mapping[str, int], colours: Mapping[str, str], title: str) -> str:
    total = sum(counts.values()) or 1
    parts = "".join(
        f'<i style="width:{count / total:.2%};background:{colours[name]}" '
        f'title="{escape(formatting.words(name), quote=True)}: {formatting.share(count / total)}"></i>'
        for name, count in counts.items()
        if count
    )
    return f'<div class="t-balance" role="img" aria-label="{escape(title, quote=True)}">{parts}</div>'

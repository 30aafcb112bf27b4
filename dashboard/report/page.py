"""The report as one page of HTML. What is not clear of chance is not told as a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from html import escape
from urllib.parse import urlencode

from dashboard.report import charts
from dashboard.report.figures import MOST_AGENTS, NotableCall, WeekFigures, WeekReport
from dashboard.ui import formatting, stat_cards, theme
from dashboard.ui.stat_cards import Remark, StatCard
from storage.queries.history import CallStatistics
from storage.queries.periods import Period
from storage.queries.statistics import FEWEST, MeasureSummary
from storage.summaries import in_a_line

BEFORE, YEAR_AGO = "the week before", "a year ago"
MEASURES: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (
    ("mood_caller", "Callers' mood", formatting.mood),
    ("mood_agent", "Agents' mood", formatting.mood),
    ("silence_share", "Silence", formatting.share),
    ("escalated", "Escalated", formatting.share),
)
MOST_TOPICS = 15


def page(report: WeekReport, link: str) -> str:
    """`link`: where the dashboard is, for links to calls."""
    style = theme.asset("history.css") + theme.asset("report.css")
    title = f"{report.name}, {report.week}"
    body = "".join(_nothing(report) if not report.now.total.calls else _parts(report, link.rstrip("/")))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f"<header><h1>Week of {escape(report.name)}</h1><p>{escape(_when(report))}</p></header>"
        f"{body}{_footer(report)}</body></html>\n"
    )


def first_lines(report: WeekReport) -> list[str]:
    """What a reader should know first; also the text of a mail."""
    now, before = report.now.total, report.before.total
    if not now.calls:
        return [f"No calls in this week ({dates(report.now.period)})."]
    lines = [f"{_calls(now.calls)}, {_time(now)} on the phone; {_more_or_fewer(now.calls, before.calls)}."]
    for measure, title, written in MEASURES:
        told = stat_cards.comparison(now[measure], before[measure], BEFORE, written, mood=True)
        if told.tone in ("up", "down"):
            lines.append(f"{title}: {written(now[measure].mean)}, {told.text}.")
    for topic, stats in report.now.topics.items():
        told = _share_change(stats, report.before.topics.get(topic, CallStatistics()), report)
        if told.tone in ("more", "less"):
            lines.append(f"{_topic(topic)}: {formatting.share(stats.calls / now.calls)} of all calls, {told.text}.")
    if len(lines) == 1 and before.calls >= FEWEST <= now.calls:
        lines.append("Nothing else is clearly different from the week before.")
    return lines


def dates(period: Period) -> str:
    """9 to 15 November 2026."""
    first, last = period.first, period.last
    if first.year != last.year:
        return f"{first.day} {first:%B %Y} to {last.day} {last:%B %Y}"
    if first.month != last.month:
        return f"{first.day} {first:%B} to {last.day} {last:%B %Y}"
    return f"{first.day} to {last.day} {last:%B %Y}"


def _when(report: WeekReport) -> str:
    made = datetime.fromtimestamp(report.made_at, report.now.period.zone)
    told = f"{dates(report.now.period)} ({report.week}) · made {made:%Y-%m-%d %H:%M}"
    return told if report.over else f"{told} · this week is not over yet"


def _nothing(report: WeekReport) -> Iterable[str]:
    yield f'<p class="none">No calls in this week. {escape(_there(report.before, "The week before"))} '
    yield f"{escape(_there(report.year_ago, 'The same week a year ago'))}</p>"


def _there(week: WeekFigures, name: str) -> str:
    return f"{name} ({dates(week.period)}) had {_calls(week.total.calls) if week.total.calls else 'none'}."


def _parts(report: WeekReport, link: str) -> Iterable[str]:
    now = report.now
    yield f'<ul class="first">{"".join(f"<li>{escape(line)}</li>" for line in first_lines(report))}</ul>'
    if report.sample:
        yield '<span class="t-sample">includes sample data</span>'
    yield f'<div class="t-tiles">{"".join(map(stat_cards.html, _cards(report)))}</div>'
    missing = [
        f"There are no calls from {name} ({dates(week.period)}): nothing is compared with it."
        for week, name in ((report.before, BEFORE), (report.year_ago, "the same week a year ago"))
        if not week.total.calls
    ]
    yield "".join(f'<p class="none">{escape(line)}</p>' for line in missing)
    yield '<div class="two"><section>'
    yield _heading("Calls by day")
    yield f'<div class="legend">{charts.BARS}</div>{charts.calls_by_day(now.period, now.days, report.before.days)}'
    yield "</section><section>"
    yield _heading("Mood by day", "with 95 % intervals")
    yield f'<div class="legend">{charts.mood_legend()}</div>{charts.mood_by_day(now.period, now.days)}'
    yield "</section></div>"
    yield from _topics(report)
    yield from _aspects(report)
    yield from _counts(report)
    yield from _agents(report)
    yield from _scorecard(report)
    yield from _notable(report, link)


def _cards(report: WeekReport) -> Iterable[StatCard]:
    others = [(BEFORE, report.before), (YEAR_AGO, report.year_ago)]
    there = [(name, week.total) for name, week in others if week.total.calls]
    now = report.now.total
    yield StatCard("Calls", formatting.count(now.calls), tuple(_before(name, str(one.calls)) for name, one in there))
    yield StatCard("Talk time", _time(now), tuple(_before(name, _time(one)) for name, one in there))
    for measure, title, written in MEASURES:
        mood = measure.startswith("mood")
        remarks = [stat_cards.comparison(now[measure], one[measure], name, written, mood=mood) for name, one in there]
        yield StatCard(title, written(now[measure].mean), tuple(remarks))
    handed = [_before(name, str(week.handovers.total())) for name, week in others if week.total.calls]
    yield StatCard("Handovers", str(report.now.handovers.total()), tuple(handed))
    fired = [_before(name, str(sum(week.alerts.values()))) for name, week in others if week.total.calls]
    yield StatCard("Alerts", str(sum(report.now.alerts.values())), tuple(fired))


def _before(name: str, value: str) -> Remark:
    return Remark(f"{name}: {value}")


def _topics(report: WeekReport) -> Iterable[str]:
    yield _heading("What calls were about", "mood of callers, with 95 % intervals; hollow: the week before")
    if not report.now.topics:
        yield '<p class="none">No call of this week has a topic.</p>'
        return
    topics = list(report.now.topics.items())
    yield _share_table("Topic", dict(topics[:MOST_TOPICS]), report.before.topics, report.year_ago.topics, report)
    if len(topics) > MOST_TOPICS:
        yield f'<p class="none">and {len(topics) - MOST_TOPICS} more topics with fewer calls</p>'


def _aspects(report: WeekReport) -> Iterable[str]:
    if report.now.aspects:
        yield _heading("What callers spoke of", "a call may have several; mood of what they said of it")
        yield _share_table("Aspect", report.now.aspects, report.before.aspects, report.year_ago.aspects, report)


def _share_table(
    name: str,
    now: Mapping[str, CallStatistics],
    before: Mapping[str, CallStatistics],
    year_ago: Mapping[str, CallStatistics],
    report: WeekReport,
) -> str:
    """How many calls of each kind, against the weeks before, and how callers felt in them."""
    rows = []
    for key, stats in now.items():
        share = formatting.share(stats.calls / report.now.total.calls)
        rows.append(
            (
                escape(_topic(key)),
                str(stats.calls),
                f"{share} {_remark(_share_change(stats, before.get(key, CallStatistics()), report))}",
                str(year_ago.get(key, CallStatistics()).calls) if report.year_ago.total.calls else formatting.NOTHING,
                _mood(stats["mood_caller"], before.get(key, CallStatistics())["mood_caller"]),
            )
        )
    return _table((name, "Calls", "Share of all calls", "A year ago", "Callers' mood"), rows, numbers=(1, 3))


def _share_change(stats: CallStatistics, before: CallStatistics, report: WeekReport) -> Remark:
    own, other = _share(stats.calls, report.now.total.calls), _share(before.calls, report.before.total.calls)
    return stat_cards.comparison(own, other, BEFORE, formatting.share, mood=False)


def _share(some: int, total: int) -> MeasureSummary:
    return MeasureSummary(total, float(some), float(some), 0.0, 1.0)


def _counts(report: WeekReport) -> Iterable[str]:
    weeks = (report.now, report.before, report.year_ago)
    yield '<div class="two"><section>'
    yield _heading("Alerts", "how often each rule fired")
    yield _count_table("Rule", [week.alerts for week in weeks], weeks, "No rule fired in this week.")
    yield "</section><section>"
    yield _heading("Handovers", "of the assistant to a person")
    yield _count_table("Reason", [week.handovers for week in weeks], weeks, "Nothing was handed over in this week.")
    yield "</section></div>"


def _count_table(name: str, counts: Sequence[Mapping[str, int]], weeks: Sequence[WeekFigures], nothing: str) -> str:
    names = sorted({*counts[0], *counts[1]}, key=lambda one: (-counts[0].get(one, 0), one))
    if not names:
        return f'<p class="none">{escape(nothing)}</p>'
    rows = [
        (
            escape(formatting.words(one) or "without a reason"),
            *(
                str(own.get(one, 0)) if week.total.calls else formatting.NOTHING
                for own, week in zip(counts, weeks, strict=True)
            ),
        )
        for one in names
    ]
    return _table((name, "This week", "Week before", "A year ago"), rows, numbers=(1, 2, 3))


def _agents(report: WeekReport) -> Iterable[str]:
    now = report.now.agents
    yield _heading("Agents", "in the order of their calls; intervals that overlap are no difference")
    if not now:
        yield '<p class="none">No call of this week says who took it.</p>'
        return
    rows = []
    for name, stats in list(now.items())[:MOST_AGENTS]:
        person, before = report.people.get(name), report.before.agents.get(name, CallStatistics())
        points = report.agent_points.get(name, MeasureSummary())
        team = f"<small>{escape(person.team)}</small>" if person and person.team else ""
        rows.append(
            (
                escape(person.name if person else name) + team,
                str(stats.calls),
                _time(stats),
                _mood(stats["mood_caller"], before["mood_caller"]),
                f"{formatting.share(points.mean)} of {points.n}" if points.n else "none confirmed",
            )
        )
    columns = ("Agent", "Calls", "Talk time", "Callers' mood", "Scorecard points met")
    yield _table(columns, rows, numbers=(1, 2))
    if len(now) > MOST_AGENTS:
        yield f'<p class="none">and {len(now) - MOST_AGENTS} more with fewer calls</p>'


def _scorecard(report: WeekReport) -> Iterable[str]:
    yield _heading("Scorecard", "only what a person confirmed; with 95 % intervals")
    if not report.now.points:
        yield '<p class="none">Nobody has confirmed a scorecard of this week, so none counts.</p>'
        return
    before = {point.point: point.total for point in report.before.points}
    rows = []
    for point in report.now.points:
        own = point.total
        reach = own.interval
        within = f"{formatting.share(reach.low)} to {formatting.share(reach.high)}" if reach else "one call"
        told = stat_cards.comparison(
            own, before.get(point.point, MeasureSummary()), BEFORE, formatting.share, mood=False
        )
        rows.append(
            (
                escape(point.asks or formatting.words(point.point)),
                str(own.n),
                formatting.share(own.mean),
                within,
                _remark(told),
            )
        )
    yield _table(("Point", "Calls", "Met", "Interval", "Change"), rows, numbers=(1, 2))


def _notable(report: WeekReport, link: str) -> Iterable[str]:
    yield _heading("Calls to listen to")
    if not report.notable:
        yield '<p class="none">No caller was clearly unhappy or pleased, and nothing was escalated.</p>'
        return
    yield "<table><tbody>"
    for one in report.notable:
        yield f"<tr>{_notable_call(one, report, link)}</tr>"
    yield "</tbody></table>"


def _notable_call(one: NotableCall, report: WeekReport, link: str) -> str:
    call = one.call
    began = datetime.fromtimestamp(call.started_at, report.now.period.zone)
    person = report.people.get(call.agent)
    about = in_a_line(call) or formatting.intent(call.task) or "without a topic"
    facts = [one.why, person.name if person else call.agent, call.medium if call.medium != "voice" else ""]
    if call.escalations:
        facts.append(f"{call.escalations} escalation{'' if call.escalations == 1 else 's'}")
    target = escape(f"{link}/call?{urlencode({'call': call.id})}", quote=True)
    small = escape(" · ".join(fact for fact in facts if fact))
    return (
        f'<td class="when">{began:%a %H:%M}</td><td><a href="{target}">{escape(about)}</a><small>{small}</small></td>'
        f'<td class="n">{formatting.mood(call.mood_caller)}</td>'
    )


def _mood(own: MeasureSummary, before: MeasureSummary) -> str:
    if not own.n:
        return f'<span class="few">{formatting.NOTHING}</span>'
    told = stat_cards.comparison(own, before, BEFORE, formatting.mood, mood=True)
    strip = charts.strip(own, before)
    return f'<div class="mood">{strip}<span>{formatting.mood(own.mean)} {_remark(told)}</span></div>'


def _remark(remark: Remark) -> str:
    return f'<small class="{remark.tone}">{escape(remark.text)}</small>'


def _heading(title: str, about: str = "") -> str:
    small = f"<small>{escape(about)}</small>" if about else ""
    return f"<h2>{escape(title)}{small}</h2>"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """Cells are HTML."""
    classes = [' class="n"' if number in numbers else "" for number in range(len(columns))]
    head = "".join(f"<th{own}>{escape(name)}</th>" for name, own in zip(columns, classes, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{own}>{cell}</td>' for cell, own in zip(row, classes, strict=True))}</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _footer(report: WeekReport) -> str:
    return (
        "<footer><p>A call counts in the week in which it began, when it is over. Moods are means over calls, from -1 "
        "to 1. Intervals are 95 % intervals. A difference is told only if its interval does not contain zero, and "
        f"nothing with fewer than {FEWEST} calls on either side is compared. With many rows, one comparison in twenty "
        "is wrong by chance alone: listen to calls before you draw a conclusion.</p>"
        f"<p>A year ago is 52 weeks ago ({escape(dates(report.year_ago.period))}), so that weekdays fall on each "
        f"other. Times are those of {escape(str(report.now.period.zone))}. Customers are not named here.</p></footer>"
    )


def _topic(task: str) -> str:
    return formatting.intent(task) or "Not known"


def _time(stats: CallStatistics) -> str:
    return formatting.duration(stats["minutes"].total * 60)


def _calls(count: int) -> str:
    return f"{formatting.count(count)} call{'' if count == 1 else 's'}"


def _more_or_fewer(now: int, before: int) -> str:
    if not before:
        return "there were none in the week before"
    if now == before:
        return "as many as in the week before"
    return f"{abs(now - before)} {'more' if now > before else 'fewer'} than in the week before ({before})"

"""The charts of the pages, as Vega-Lite: `charts.show(charts.mood_over_time(...))`. Their colours are in
dashboard/ui/theme.py, scales and axes in base.py."""

from dashboard.ui.charts.base import GREY, SIDES, show
from dashboard.ui.charts.customers import contacts, customers_by_mood
from dashboard.ui.charts.drift import drift_over_time
from dashboard.ui.charts.history import (
    calls_by_group,
    counts_over_time,
    hours_of_week,
    means_by_person,
    measure_over_time,
    mood_over_time,
    points_of_scorecard,
    sentiments_over_time,
    share_over_time,
)
from dashboard.ui.charts.labels import confusion, kappas
from dashboard.ui.charts.learning import run_colours, run_curve
from dashboard.ui.charts.pipeline import latency_over_time, stage_latencies, throughput

__all__ = [
    "GREY",
    "SIDES",
    "calls_by_group",
    "confusion",
    "contacts",
    "counts_over_time",
    "customers_by_mood",
    "drift_over_time",
    "hours_of_week",
    "kappas",
    "latency_over_time",
    "means_by_person",
    "measure_over_time",
    "mood_over_time",
    "points_of_scorecard",
    "run_colours",
    "run_curve",
    "sentiments_over_time",
    "share_over_time",
    "show",
    "stage_latencies",
    "throughput",
]

"""How soon drift is told at 2,000 sentences a day, and how often where there is none, on made-up days."""

from __future__ import annotations

import argparse
from statistics import median

from rich.progress import track

from storage.drift.simulation import days_until_told, false_alarms

NEVER = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=300, help="changes of each size")
    parser.add_argument("--years", type=int, default=10, help="years in which nothing changes")
    parser.add_argument("--sentences", type=int, default=2_000, help="sentences a day")
    given = parser.parse_known_args()[0]
    print(f"{'negatives':16}{'median':>8}{'p90':>6}{'within 2 days':>15}{'within 15':>11}  (days)")
    for share in (0.15, 0.13):
        waits = sorted(
            days_until_told(60, given.sentences, seed, share) or NEVER
            for seed in track(range(given.trials), f"10 to {share:.0%}", transient=True)
        )
        p90 = waits[int(0.9 * (len(waits) - 1))]
        two, fifteen = (sum(wait <= days for wait in waits) / len(waits) for days in (2, 15))
        print(f"10 -> {share:<10.0%}{median(waits):8.0f}{p90:6d}{two:15.0%}{fifteen:11.0%}", flush=True)
    years = [false_alarms(365, given.sentences, seed) for seed in track(range(given.years), "nothing", transient=True)]
    print(f"nothing changes: {sum(years)} false alarms in {len(years)} years, over every queue, site and measure")


if __name__ == "__main__":
    main()

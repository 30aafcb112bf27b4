"""Sharing out partitions."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenor.bus.embedded import leases, schema
from tenor.bus.embedded.leases import Member, shared_out

NAMES = st.sets(st.sampled_from("abcdefghij"), min_size=1)


@given(kept=st.lists(st.sampled_from([*"abcdefghij", None]), min_size=1, max_size=40), members=NAMES)
def test_everyone_gets_an_even_share_and_little_moves(kept: list[str | None], members: set[str]) -> None:
    plan = shared_out(kept, members)
    counts = Counter(plan)
    assert set(plan) <= members
    shares = [counts[member] for member in members]
    assert max(shares) - min(shares) <= 1
    # Nobody gives one up who is not above its share.
    for number, (before, after) in enumerate(zip(kept, plan, strict=True)):
        if before in members and after != before:
            assert sum(1 for holder in kept if holder == before) > counts[before], number
    assert shared_out(plan, members) == plan


@pytest.fixture
def db(tmp_path: Path) -> sqlite3.Connection:
    schema.prepare(tmp_path / "bus.db", 4, 1)
    return schema.connect(tmp_path / "bus.db", 1)


def test_a_lease_from_before_a_reboot_is_over(db: sqlite3.Connection) -> None:
    """The clock starts at zero then, so the beat lies in the future."""
    old, new = Member("group", "old", (1,), 10), Member("group", "new", (1,), 10)
    leases.join(db, old, 4)
    leases.take(db, old)
    db.execute("UPDATE members SET beat = ?", (time.monotonic() + 1_000_000,))
    leases.join(db, new, 4)
    assert len(leases.take(db, new)) == 4
    assert not leases.share(db, old).alive


def test_members_with_other_topics_share_only_what_they_read(db: sqlite3.Connection) -> None:
    both, one = Member("group", "both", (1, 2), 10), Member("group", "one", (1,), 10)
    leases.join(db, both, 4)
    leases.join(db, one, 4)
    topics = Counter(schema.topic_of(slot) for slot in leases.take(db, both))
    assert topics == {1: 2, 2: 4}
    assert Counter(schema.topic_of(slot) for slot in leases.take(db, one)) == {1: 2}
    leases.leave(db, both, 4)
    assert len(leases.take(db, one)) == 4

"""Who reads which partition: members of a group and their leases, as transactions on the bus file.

Each lease has an owner, who reads and commits, and a target, who should. Whoever notices a change
(a member joins, leaves or falls silent) writes a new plan of targets for the whole group. An owner
that is no longer the target finishes and releases; only then does the target take. So a partition
never has two owners, and one that need not move is not disturbed.

    A owns 0-3          B joins: plan A 0-1, B 2-3       A's poll: on_revoked 2-3, release    B's poll: take 2-3

Every change counts up the group's generation, which is what consumers watch. Times are those of the
machine's monotonic clock: the same in all its processes, and no clock change ends a lease.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tenor.bus import Commit
from tenor.bus.embedded.schema import partition_in, slot_of, topic_of


class Member(NamedTuple):
    group: str
    id: str
    topics: tuple[int, ...]
    lease_s: float


class Share(NamedTuple):
    """What a member holds and should hold, at a generation."""

    generation: int
    alive: bool
    """False when the others gave us up: everything held is lost, and we have to join again."""
    owned: frozenset[int]
    wanted: frozenset[int]
    free: frozenset[int]
    """Wanted and owned by nobody: ours to take."""


def join(db: sqlite3.Connection, member: Member, partitions: int) -> int:
    """Become a member; the generation this makes."""
    db.execute(
        "INSERT OR REPLACE INTO members VALUES (?, ?, ?, ?, ?)",
        (member.id, member.group, json.dumps(member.topics), time.monotonic(), member.lease_s),
    )
    _bury(db, member.group)
    return _plan(db, member.group, partitions)


def leave(db: sqlite3.Connection, member: Member, partitions: int) -> int:
    """Give everything back at once; the generation this makes."""
    _remove(db, member.group, [member.id])
    return _plan(db, member.group, partitions)


def beat(db: sqlite3.Connection, member: Member, partitions: int) -> int | None:
    """Say that we live, and bury who does not; the generation, if that changed it."""
    db.execute("UPDATE members SET beat = ? WHERE id = ?", (time.monotonic(), member.id))
    return _plan(db, member.group, partitions) if _bury(db, member.group) else None


def share(db: sqlite3.Connection, member: Member) -> Share:
    rows = db.execute(
        "SELECT slot, owner, target FROM leases WHERE grp = ? AND (owner = ? OR target = ?)",
        (member.group, member.id, member.id),
    ).fetchall()
    return Share(
        generation(db, member.group),
        db.execute("SELECT 1 FROM members WHERE id = ?", (member.id,)).fetchone() is not None,
        frozenset(slot for slot, owner, _ in rows if owner == member.id),
        frozenset(slot for slot, _, target in rows if target == member.id),
        frozenset(slot for slot, owner, target in rows if target == member.id and owner is None),
    )


def release(db: sqlite3.Connection, member: Member, slots: Iterable[int]) -> int:
    """Let others take `slots`; the generation this makes."""
    db.executemany(
        "UPDATE leases SET owner = NULL WHERE grp = ? AND slot = ? AND owner = ?",
        [(member.group, slot, member.id) for slot in slots],
    )
    return _next_generation(db, member.group)


def take(db: sqlite3.Connection, member: Member) -> dict[int, Commit | None]:
    """Own what is ours and free; how far the group has come on everything that is ours now."""
    ours = share(db, member)
    db.executemany(
        "UPDATE leases SET owner = ? WHERE grp = ? AND slot = ?",
        [(member.id, member.group, slot) for slot in ours.free],
    )
    return {slot: committed(db, member.group, slot) for slot in ours.free | (ours.owned & ours.wanted)}


def commit(db: sqlite3.Connection, member: Member, commits: Mapping[int, Commit]) -> None:
    """Note progress on what we own; the rest has an owner who knows better."""
    db.executemany(
        "INSERT OR REPLACE INTO commits SELECT grp, slot, ?, ? FROM leases WHERE grp = ? AND slot = ? AND owner = ?",
        [(c.offset, c.note, member.group, slot, member.id) for slot, c in commits.items()],
    )


def committed(db: sqlite3.Connection, group: str, slot: int) -> Commit | None:
    row = db.execute("SELECT offset, note FROM commits WHERE grp = ? AND slot = ?", (group, slot)).fetchone()
    return Commit(*row) if row else None


def generation(db: sqlite3.Connection, group: str) -> int:
    row = db.execute("SELECT generation FROM groups WHERE name = ?", (group,)).fetchone()
    return int(row[0]) if row else 0


def _next_generation(db: sqlite3.Connection, group: str) -> int:
    db.execute(
        "INSERT INTO groups VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET generation = generation + 1", (group,)
    )
    return generation(db, group)


def alive(db: sqlite3.Connection, group: str) -> set[str]:
    """The members whose lease has not run out. A beat in the future is one from before a reboot."""
    now = time.monotonic()
    found = db.execute("SELECT id, beat, lease_s FROM members WHERE grp = ?", (group,))
    return {member for member, beat, lease_s in found if beat <= now < beat + lease_s}


def _bury(db: sqlite3.Connection, group: str) -> bool:
    """Remove the members who are not."""
    known = {member for (member,) in db.execute("SELECT id FROM members WHERE grp = ?", (group,))}
    dead = known - alive(db, group)
    _remove(db, group, dead)
    return bool(dead)


def _remove(db: sqlite3.Connection, group: str, members: Iterable[str]) -> None:
    for member in members:
        db.execute("DELETE FROM members WHERE id = ?", (member,))
        db.execute("UPDATE leases SET owner = NULL WHERE grp = ? AND owner = ?", (group, member))


def _plan(db: sqlite3.Connection, group: str, partitions: int) -> int:
    """Write who should hold what; the generation this makes."""
    subscribed = {
        member: set(json.loads(topics))
        for member, topics in db.execute("SELECT id, topics FROM members WHERE grp = ?", (group,))
    }
    before = dict(db.execute("SELECT slot, target FROM leases WHERE grp = ?", (group,)).fetchall())
    planned: set[int] = set().union(*subscribed.values())
    # Topics read by the same members are shared out alike, so that a call's events stay with one member.
    alike: dict[tuple[str, ...], list[int]] = {}
    for topic in sorted(planned):
        readers = tuple(sorted(member for member, topics in subscribed.items() if topic in topics))
        alike.setdefault(readers, []).append(topic)
    for readers, topics in alike.items():
        kept = [before.get(slot_of(topics[0], number)) for number in range(partitions)]
        for number, member in enumerate(shared_out(kept, readers)):
            for topic in topics:
                db.execute(
                    "INSERT INTO leases VALUES (?, ?, NULL, ?)"
                    " ON CONFLICT (grp, slot) DO UPDATE SET target = excluded.target",
                    (group, slot_of(topic, number), member),
                )
    for slot in before:
        if topic_of(slot) not in planned or partition_in(slot) >= partitions:
            db.execute("UPDATE leases SET target = NULL WHERE grp = ? AND slot = ?", (group, slot))
    return _next_generation(db, group)


def shared_out(kept: Sequence[str | None], members: Collection[str]) -> list[str]:
    """Who gets each partition: even to within one, and as few as possible change hands."""
    held = {member: [n for n, owner in enumerate(kept) if owner == member] for member in members}
    by_load = sorted(members, key=lambda member: (-len(held[member]), member))
    least, more = divmod(len(kept), len(by_load))
    quota = {member: least + (rank < more) for rank, member in enumerate(by_load)}
    plan = {number: member for member in by_load for number in held[member][: quota[member]]}
    wanting = [member for member in by_load for _ in range(quota[member] - len(held[member]))]
    for number in range(len(kept)):
        if number not in plan:
            plan[number] = wanting.pop(0)
    return [plan[number] for number in range(len(kept))]

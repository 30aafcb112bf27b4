"""Erasing calls for good: rows, recordings, the search index, the bus, and the bytes they leave behind.

    1  the call's fingerprint is marked: from now on the bus cannot bring the call back
    2  recordings are deleted, and the archive with its snapshots, datasets and copies is rewritten without the call;
       where that is impossible, the call's key is deleted
    3  its records are taken off the embedded bus; on Kafka they go when the retention ends
    4  the rows are deleted
    5  the search index is rebuilt and the database compacted, so that no page holds the words any more
    6  a receipt without personal data says what was done

The rows go last, so that after a crash the same command finds the call again and completes what was begun.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import and_, delete, func, select, update
from sqlmodel import Session, SQLModel, col

from storage.archive.forget import forget
from storage.db import vacuum
from storage.db.engine import Database
from storage.privacy import kept, tombstones
from storage.recorder.store import RecordingStore
from storage.tables import Audit, Call, Customer, DeadLetter, Outbox, SavedSearch
from tenor.bus.opening import open_bus
from tenor.errors import BadInput, Refused, TenorError
from tenor.events import HOUR, TOPICS
from tenor.settings import Settings

UNFINISHED = ("ringing", "live", "ended")
"""The stages are still at work on these."""

Forget = Callable[[Sequence[str]], Awaitable[int]]
"""Deletes what a further keeper of copies holds of these calls; how much that was."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """That something was erased, without saying what was in it."""

    receipt: str
    """Number of the receipt."""
    what: str
    """`call` or `customer`."""
    at: str
    by: str
    """Who gave the command."""
    fingerprints: list[str]
    """SHA-256 of the id of each call."""
    rows: dict[str, int]
    """Deleted or made nameless, by table."""
    recordings: int
    copies: dict[str, int]
    """What else was deleted, by its keeper: rows and channels of audio of the archive, or the keys that sealed
    them."""
    learned: list[str] = []
    """Datasets that held one of the calls, and models trained with them. What they learned stays learned; the next
    training goes without these calls."""
    bus_records: int
    """Taken off the bus at once."""
    bus_kept_until: str | None
    """When the last of what the bus still holds will be gone; None: nothing is left on it."""
    database_compacted: bool
    """False: `tenor erase --compact` is still to be done."""
    notes: list[str] = []
    """What is beyond our reach."""


def calls_of(session: Session, customer: str) -> list[str]:
    return list(session.scalars(select(col(Call.id)).where(col(Call.customer) == customer).order_by(col(Call.id))))


def unfinished(session: Session, calls: Iterable[str]) -> list[str]:
    """Those of the calls that are still going on, or being understood."""
    return list(session.scalars(select(col(Call.id)).where(col(Call.id).in_(calls), col(Call.state).in_(UNFINISHED))))


async def erase(
    database: Database,
    settings: Settings,
    *,
    by: str,
    call: str = "",
    customer: str = "",
    force: bool = False,
    copies: Mapping[str, Forget] = {},
) -> Receipt:
    """Erase one call, or a customer with all their calls. `force` also takes calls that are not over."""
    with database.session() as session:
        calls = calls_of(session, customer) if customer else [call]
        there = set(session.scalars(select(col(Call.id)).where(col(Call.id).in_(calls))))
        before = session.get(Customer, customer) is not None if customer else tombstones.is_erased(session, call)
        busy = unfinished(session, calls)
        names = list(session.scalars(select(col(Call.recording)).where(col(Call.id).in_(calls))))
    if not there and not before:
        raise BadInput(
            f"there is no {'customer' if customer else 'call'} {customer or call!r} to erase",
            "if the command was interrupted before: `tenor erase --compact`",
        )
    if busy and not force:
        raise Refused(
            f"{len(busy)} of these calls are not over yet" if customer else f"call {call!r} is not over yet",
            "wait until they are, or say --force: what a stage still publishes of them is not kept",
        )
    at = time.time()
    number = secrets.token_hex(8)
    await asyncio.to_thread(_mark, database, calls, at)
    recordings = await asyncio.to_thread(_remove_recordings, settings, calls, names)
    forgotten = await asyncio.to_thread(forget, settings, calls, number)
    kept_elsewhere = {"archive": forgotten.rows, "audio": forgotten.audio}
    kept_elsewhere |= {"keys": forgotten.keys} if forgotten.keys else {}
    kept_elsewhere |= {keeper: await delete_copies(calls) for keeper, delete_copies in copies.items()}
    bus_records, bus_kept_until = await _off_the_bus(settings, calls, at)
    rows = await asyncio.to_thread(_delete_rows, database, calls, customer, number, by, at)
    trouble: TenorError | None = None
    notes: list[str] = []
    try:
        notes = await asyncio.to_thread(vacuum.compact, database)
    except TenorError as error:
        trouble = error
    receipt = Receipt(
        receipt=number,
        what="customer" if customer else "call",
        at=_iso(at),
        by=by,
        fingerprints=[tombstones.fingerprint(one) for one in calls],
        rows=rows,
        recordings=recordings,
        copies=kept_elsewhere,
        learned=forgotten.learned,
        bus_records=bus_records,
        bus_kept_until=bus_kept_until,
        database_compacted=trouble is None,
        notes=[*forgotten.notes, *notes],
    )
    await asyncio.to_thread(_file, receipt, settings.home / "receipts")
    if trouble:
        raise type(trouble)(f"erased (receipt {number}), but {trouble.message}", trouble.hint)
    return receipt


def _mark(database: Database, calls: list[str], at: float) -> None:
    with database.begin() as session:
        for call in calls:
            tombstones.mark(session, call, at)
        session.execute(delete(Outbox).where(col(Outbox.call).in_(calls)))  # nothing more of them is published


def _delete_rows(
    database: Database, calls: list[str], customer: str, number: str, by: str, at: float
) -> dict[str, int]:
    with database.begin() as session:
        about = kept.about(session, calls, customer)
        rows = {table.name: _count(session, table, about[table.name]) for table in kept.tables_of_calls()}
        rows["searches"] = _delete(session, SavedSearch, about["searches"])  # they may say what a customer is called
        _delete(session, DeadLetter, about["dead_letters"])
        rows["calls"] = _delete(session, Call, about["calls"])
        others = (
            select(col(Call.id)).where(col(Call.customer) == col(Customer.id)).exists()
        )  # who has a call left stays
        rows["customers"] = _delete(session, Customer, and_(about["customers"], ~others))
        rows["audit"] = _make_nameless(session, calls, customer, number)
        for call in calls:
            detail = {"receipt": number}
            session.add(Audit(at=at, who=by, action="call.erased", subject=tombstones.fingerprint(call), detail=detail))
    return rows


def _count(session: Session, table: Any, where: Any) -> int:
    return int(session.execute(select(func.count()).select_from(table).where(where)).scalar_one())


def _delete(session: Session, table: type[SQLModel], where: Any) -> int:
    return int(session.execute(delete(table).where(where)).rowcount)  # type: ignore[attr-defined]


def _make_nameless(session: Session, calls: list[str], customer: str, number: str) -> int:
    """The trail says that something was done to a call, no longer to which."""
    changed = 0
    for call in calls:
        nameless = update(Audit).where(kept.audit_of(call)).values(subject=tombstones.fingerprint(call), detail={})
        changed += session.execute(nameless).rowcount  # type: ignore[attr-defined]
    if customer:
        nameless = update(Audit).where(col(Audit.subject) == customer).values(subject=f"receipt {number}", detail={})
        changed += session.execute(nameless).rowcount  # type: ignore[attr-defined]
    return changed


def _remove_recordings(settings: Settings, calls: list[str], names: list[str]) -> int:
    recordings = RecordingStore(settings)
    return sum(recordings.delete(name) for name in kept.recording_files(calls, names))


async def _off_the_bus(settings: Settings, calls: list[str], at: float) -> tuple[int, str | None]:
    if settings.bus_url.startswith("kafka://"):
        # Kafka deletes a segment when its newest record is too old, and our segments are a quarter of the retention.
        last = max(topic.retention_s for topic in TOPICS) * 1.25 + HOUR
        return 0, _iso(at + last)
    async with open_bus(settings) as bus:
        return sum([await bus.forget(call) for call in calls]), None


def _iso(at: float) -> str:
    return (datetime.fromtimestamp(at, UTC) + timedelta(microseconds=999_999)).replace(microsecond=0).isoformat()


def _file(receipt: Receipt, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = msgspec.json.format(msgspec.json.encode(receipt), indent=2)
    (folder / f"{receipt.at[:10]}-{receipt.receipt}.json").write_bytes(made + b"\n")

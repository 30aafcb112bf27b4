"""Local accounts: argon2 passwords, and a sign-in that gets slower the more often someone guesses."""

from __future__ import annotations

import re
import secrets
import time

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import delete
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, select

from storage.db.engine import Database
from storage.tables import Account, Audit, EndedSession, SavedSearch
from storage.viewer import ROLES, Viewer
from tenor.bounded_dict import BoundedDict
from tenor.errors import BadInput

SHORTEST_PASSWORD = 10
FREE_TRIES = 5
"""Of an account."""
ADDRESS_TRIES = 50
"""Of an address: a whole call centre may sign in from one."""
LONGEST_WAIT_S = 300.0
REMEMBERED = 10_000
FIRST_VERSIONS = 1 << 30
AWAY_S = 600.0
"""How long somebody who is here may stay without the database."""
NAME = re.compile(r"[^\s/<>\"'&]{1,100}")


class Accounts:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._hasher = PasswordHasher()
        # What a sign-in under a name that does not exist is checked against, so that it takes as long.
        self._nobody = self._hasher.hash("nobody")
        self._versions: dict[str, tuple[float, tuple[int, str] | None]] = {}
        self._ended: tuple[float, frozenset[str]] = (0.0, frozenset())

    def add(self, name: str, role: str, password: str, *, by: str = "") -> None:
        if not NAME.fullmatch(name):
            raise BadInput(f"{name!r} cannot be the name of an account", "no spaces, slashes or quotes")
        self._check_role(role)
        self._check_password(password)
        with self._database.session() as session:
            if session.get(Account, name):
                raise BadInput(f"there is an account {name!r} already")
            hashed = self._hasher.hash(password)
            # What was given out for an account of this name that was removed must not open this one.
            version = secrets.randbelow(FIRST_VERSIONS)
            session.add(Account(name=name, role=role, password=hashed, created_at=time.time(), version=version))
            session.add(Audit(at=time.time(), who=by, action="account.added", subject=name, detail={"role": role}))
            session.commit()

    def all(self) -> list[Account]:
        with self._database.session() as session:
            return list(session.exec(select(Account).order_by(Account.name)))

    def change(self, name: str, *, role: str = "", password: str = "", by: str = "") -> None:
        """Whatever changes, sessions and tokens given out before end."""
        if role:
            self._check_role(role)
        if password:
            self._check_password(password)
        with self._database.session() as session:
            account = self._get(session.get(Account, name), name)
            account.role = role or account.role
            account.password = self._hasher.hash(password) if password else account.password
            account.version += 1
            session.add(account)
            what = "account.role" if role else "account.password" if password else "account.sessions_ended"
            session.add(Audit(at=time.time(), who=by, action=what, subject=name, detail={"role": role} if role else {}))
            session.commit()
        self._versions.pop(name, None)

    def remove(self, name: str, *, by: str = "") -> None:
        """With its saved searches: an account of that name that is made later may be somebody else's."""
        with self._database.session() as session:
            session.delete(self._get(session.get(Account, name), name))
            session.exec(delete(SavedSearch).where(col(SavedSearch.owner) == name))
            session.add(Audit(at=time.time(), who=by, action="account.removed", subject=name))
            session.commit()
        self._versions.pop(name, None)

    def note(self, name: str, action: str, *, by: str) -> None:
        """For the audit trail: something was done with an account."""
        with self._database.session() as session:
            session.add(Audit(at=time.time(), who=by, action=action, subject=name))
            session.commit()

    def viewer(self, name: str) -> Viewer | None:
        known = self.version_of(name)
        return Viewer(name, known[1]) if known else None  # type: ignore[arg-type]

    def version_of(self, name: str) -> tuple[int, str] | None:
        """An account's version and role; None when there is no such account. Known for a second: every request asks,
        and a changed password may take that long to end a session. While the database is away, what was known of
        those who are here holds for some minutes, so that live pages go on."""
        read_at, known = self._versions.get(name, (0.0, None))
        if time.monotonic() - read_at > 1.0:
            try:
                with self._database.session() as session:
                    account = session.get(Account, name)
            except SQLAlchemyError:
                if known is None or time.monotonic() - read_at > AWAY_S:
                    raise
                return known
            known = (account.version, account.role) if account else None
            if len(self._versions) >= REMEMBERED:
                self._versions.clear()
            self._versions[name] = (time.monotonic(), known)
        return known

    def end_session(self, session_id: str, lasts_s: float) -> None:
        """What was given out in it opens nothing any more. Remembered for as long as it would have lasted."""
        if not session_id:
            return
        now = time.time()
        with self._database.session() as session:
            session.exec(delete(EndedSession).where(col(EndedSession.until) < now))
            if session.get(EndedSession, session_id) is None:
                session.add(EndedSession(id=session_id, until=now + lasts_s))
            session.commit()
        self._ended = (0.0, self._ended[1] | {session_id})

    def has_ended(self, session_id: str) -> bool:
        """Known for a second, as versions are; while the database is away, what was known holds."""
        read_at, known = self._ended
        if session_id in known:
            return True
        if time.monotonic() - read_at > 1.0:
            try:
                with self._database.session() as session:
                    known = frozenset(
                        session.exec(select(EndedSession.id).where(col(EndedSession.until) >= time.time()))
                    )
            except SQLAlchemyError:
                if not read_at or time.monotonic() - read_at > AWAY_S:
                    raise
            else:
                self._ended = (time.monotonic(), known)
        return session_id in known

    def check(self, name: str, password: str) -> Viewer | None:
        """Whoever has this name and password. Takes as long for a name that does not exist."""
        with self._database.session() as session:
            account = session.get(Account, name)
        try:
            self._hasher.verify(account.password if account else self._nobody, password)
        except (VerificationError, InvalidHashError):
            return None
        return Viewer(account.name, account.role) if account else None  # type: ignore[arg-type]

    @staticmethod
    def _get(account: Account | None, name: str) -> Account:
        if account is None:
            raise BadInput(f"there is no account {name!r}", "`tenor account list` shows them")
        return account

    @staticmethod
    def _check_role(role: str) -> None:
        if role not in ROLES:
            raise BadInput(f"{role!r} is no role", f"roles: {', '.join(ROLES)}")

    @staticmethod
    def _check_password(password: str) -> None:
        if len(password) < SHORTEST_PASSWORD:
            raise BadInput(f"a password has at least {SHORTEST_PASSWORD} characters")


class SignInThrottle:
    """Counts failures by whatever names the guesser; after a few each costs a longer wait."""

    def __init__(self, free_tries: int) -> None:
        self._free_tries = free_tries
        self._failures: BoundedDict[str, tuple[int, float]] = BoundedDict(REMEMBERED)

    def wait_s(self, name: str) -> float:
        """How long this one must still wait before another try."""
        return max(0.0, self._failures.get(name, (0, 0.0))[1] - time.monotonic())

    def failed(self, name: str) -> None:
        count = self._failures.pop(name, (0, 0.0))[0] + 1
        over = count - self._free_tries
        pause = min(2.0 ** min(over, 20), LONGEST_WAIT_S) if over >= 0 else 0.0
        self._failures[name] = (count, time.monotonic() + pause)

    def succeeded(self, name: str) -> None:
        self._failures.pop(name, None)

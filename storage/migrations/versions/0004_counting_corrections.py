"""Search finds a sentence by the correction that counts, not by the newest: an agent's own comes last."""

from __future__ import annotations

from alembic import op

from storage.search.index import renew

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    renew(op.get_bind())

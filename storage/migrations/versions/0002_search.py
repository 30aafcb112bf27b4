"""Full-text search."""

from __future__ import annotations

from alembic import op

from storage.search.index import create_index

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    create_index(op.get_bind())

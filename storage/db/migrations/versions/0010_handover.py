"""A call says whether it waits for a person, or which person has it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("calls", sa.Column("handover", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("calls", sa.Column("waiting", sa.Boolean(), nullable=False, server_default=sa.false()))

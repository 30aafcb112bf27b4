"""Labels are told on the bus: what is to be published waits in a table of its own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("call", sa.String(), sa.ForeignKey("calls.id", ondelete="CASCADE"), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_index("outbox_of_call", "outbox", ["call"])

"""Sign-ins that were ended before their time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "ended_sessions",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("until", sa.Float(), nullable=False),
    )

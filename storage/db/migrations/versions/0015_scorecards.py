"""What rules and intents fill in of a call's scorecard, and what people say of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.add_column("calls", sa.Column("scorecard", sa.JSON(), nullable=False, server_default="[]"))
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("call", sa.String(), sa.ForeignKey("calls.id", ondelete="CASCADE"), nullable=False),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("point", "asks", "value", "proposed")),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("author", "author_role")),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
    )
    op.create_index("scores_of_call", "scores", ["call", "point"])

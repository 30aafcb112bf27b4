"""Conversations with the assistant are kept turn by turn."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("call", sa.String(), sa.ForeignKey("calls.id", ondelete="CASCADE"), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("cause", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("at_ms", sa.Integer(), nullable=False),
        sa.Column("input", sa.String(), nullable=False),
        sa.Column("intent", sa.String(), nullable=False),
        sa.Column("intent_score", sa.Float(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("states", sa.JSON(), nullable=False),
        sa.Column("slots", sa.JSON(), nullable=False),
        sa.Column("actions", sa.JSON(), nullable=False),
        sa.Column("replies", sa.JSON(), nullable=False),
        sa.Column("handover", sa.JSON(), nullable=False),
        sa.Column("heard", sa.String(), nullable=False),
        sa.Column("mood", sa.Float(), nullable=True),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.Column("assistant", sa.String(), nullable=False),
        sa.Column("flow", sa.String(), nullable=False),
        sa.Column("session", sa.JSON(), nullable=False),
        sa.Column("trace", sa.JSON(), nullable=False),
        sa.Column("times", sa.JSON(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=True),
    )
    op.create_index("turns_of_call", "turns", ["call", "turn"])
    op.create_index("turns_by_time", "turns", ["at"])

"""Drift: what measures came to each day, and whether they differed; how sure the recogniser was of a sentence."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("sentences", sa.Column("confidence", sa.Float(), nullable=True))
    op.create_table(
        "drift_sums",
        sa.Column("id", sa.Integer(), primary_key=True),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("day", "scope", "name", "measure", "value")),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("part", "whole", "part_squares", "products")),
        sa.Column("whole_squares", sa.Float(), nullable=False),
    )
    op.create_index("drift_sums_by_day", "drift_sums", ["day"])
    op.create_index("drift_sums_of_measure", "drift_sums", ["scope", "name", "measure", "day"])
    op.create_table(
        "drift_tests",
        sa.Column("id", sa.Integer(), primary_key=True),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("day", "kind", "scope", "name", "measure")),
        *(sa.Column(name, sa.String(), nullable=False) for name in ("value", "model", "against")),
        sa.Column("calls", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("now", "before", "error", "p", "corrected")),
        sa.Column("together", sa.Float(), nullable=False),
        sa.Column("alarm", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
    )
    op.create_index("drift_tests_by_day", "drift_tests", ["day"])
    op.create_index("drift_tests_of_measure", "drift_tests", ["scope", "name", "measure", "value", "day"])

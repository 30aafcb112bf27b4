"""Teams, training jobs, what became of them, and who runs them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "teams",
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("quota", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
    )
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("words", sa.JSON(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("interactive", sa.Boolean(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("limit_s", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("asked", sa.String(), nullable=False),
        sa.Column("asked_at", sa.Float(), nullable=True),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("submitted_at", sa.Float(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=True),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("mark", sa.String(), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("deaths", sa.Integer(), nullable=False),
        sa.Column("error", sa.String(), nullable=False),
    )
    op.create_index("jobs_by_state", "jobs", ["state", "id"])
    op.create_index("jobs_of_team", "jobs", ["team", "id"])
    op.create_table(
        "job_events",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("job", sa.Integer(), sa.ForeignKey("jobs.id", ondelete="CASCADE"), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
    )
    op.create_index("job_events_by_time", "job_events", ["at"])
    op.create_index("events_of_job", "job_events", ["job", "id"])
    op.create_table(
        "job_runners",
        sa.Column("host", sa.String(), primary_key=True),
        sa.Column("holder", sa.String(), nullable=False),
        sa.Column("capacity", sa.Integer(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
    )

"""The tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("password", sa.String(), nullable=False),
        sa.Column("created_at", sa.Float(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "agents",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("site", sa.String(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("who", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("audit_by_time", "audit", ["at"])
    op.create_table(
        "calls",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("medium", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("site", sa.String(), nullable=False),
        sa.Column("queue", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("customer", sa.String(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.Float(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("state_at", sa.Float(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("task_score", sa.Float(), nullable=False),
        sa.Column("sentences", sa.Integer(), nullable=False),
        sa.Column("alerts", sa.Integer(), nullable=False),
        sa.Column("escalations", sa.Integer(), nullable=False),
        sa.Column("mood_caller", sa.Float(), nullable=True),
        sa.Column("mood_agent", sa.Float(), nullable=True),
        sa.Column("talk_share_agent", sa.Float(), nullable=True),
        sa.Column("silence_share", sa.Float(), nullable=True),
        sa.Column("metrics", sa.JSON(), nullable=False),
        sa.Column("metrics_ms", sa.Integer(), nullable=False),
        sa.Column("recording", sa.String(), nullable=False),
        sa.Column("recorded", sa.Boolean(), nullable=False),
        sa.Column("redact", sa.String(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("calls_by_agent", "calls", ["agent", "started_at", "id"])
    op.create_index("calls_by_customer", "calls", ["customer", "started_at", "id"])
    op.create_index("calls_by_time", "calls", ["started_at", "id"])
    op.create_index("calls_by_state", "calls", ["state", "started_at", "id"])
    live = sa.text("state IN ('ringing', 'live')")
    op.create_index("calls_live", "calls", ["started_at"], sqlite_where=live, postgresql_where=live)
    op.create_table(
        "customers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("display_name", sa.String(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "dead_letters",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("partition", sa.Integer(), nullable=False),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("dead_letters_by_time", "dead_letters", ["at"])
    op.create_table(
        "erased",
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("erased_at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("fingerprint"),
    )
    op.create_table(
        "searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("query", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("searches_of_owner", "searches", ["owner"])
    op.create_table(
        "alerts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("rule", sa.String(), nullable=False),
        sa.Column("severity", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at_ms", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("escalation", sa.Boolean(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["call"], ["calls.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("alerts_by_time", "alerts", ["at"])
    op.create_index("alerts_of_call", "alerts", ["call"])
    op.create_table(
        "notes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("acknowledged_by", sa.String(), nullable=False),
        sa.Column("acknowledged_at", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["call"], ["calls.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("notes_of_call", "notes", ["call"])
    op.create_table(
        "sentences",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("channel", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("start_ms", sa.Integer(), nullable=False),
        sa.Column("end_ms", sa.Integer(), nullable=False),
        sa.Column("spoken_at", sa.Float(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("sentiment", sa.String(), nullable=False),
        sa.Column("sentiment_scores", sa.JSON(), nullable=False),
        sa.Column("mood", sa.Float(), nullable=False),
        sa.Column("intent", sa.String(), nullable=False),
        sa.Column("intent_score", sa.Float(), nullable=False),
        sa.Column("slots", sa.JSON(), nullable=False),
        sa.Column("labels", sa.JSON(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.Column("models", sa.JSON(), nullable=False),
        sa.Column("times", sa.JSON(), nullable=False),
        sa.Column("latency_ms", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["call"], ["calls.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("sentences_by_time", "sentences", ["spoken_at"])
    op.create_index("sentences_of_call", "sentences", ["call", "start_ms", "end_ms", "role", "mood"])
    op.create_table(
        "labels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("sentence", sa.String(), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("predicted", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("where", sa.String(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["call"], ["calls.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["sentence"], ["sentences.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("labels_by_author", "labels", ["author", "at"])
    op.create_index("labels_of_call", "labels", ["call"])
    op.create_index("labels_of_sentence", "labels", ["sentence"])

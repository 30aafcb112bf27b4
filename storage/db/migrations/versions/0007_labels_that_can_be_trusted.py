"""Why a label was asked for and which model had answered, labels of turns, labels that wait for a decision, and how new
a sentence was to its model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

COLUMNS = 'id, sentence, call, kind, value, predicted, author, at, seconds, "where", sample'


def upgrade() -> None:
    connection = op.get_bind()
    op.add_column("sentences", sa.Column("novelty", sa.Float(), nullable=True))
    if connection.dialect.name == "postgresql":
        _postgresql()
    else:
        _sqlite(connection)
    op.create_index("labels_of_turn", "labels", ["turn"])
    op.create_table(
        "label_holds",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("ended_at", sa.Float(), nullable=True),
        sa.Column("ended_by", sa.String(), nullable=False),
    )
    op.create_index("label_holds_of_author", "label_holds", ["author"])


def _postgresql() -> None:
    op.alter_column("labels", "sentence", nullable=True)
    op.add_column(
        "labels", sa.Column("turn", sa.String(), sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=True)
    )
    for name in ("author_role", "why", "model"):
        op.add_column("labels", sa.Column(name, sa.String(), nullable=False, server_default=""))
        op.alter_column("labels", name, server_default=None)
    op.add_column("labels", sa.Column("held", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.alter_column("labels", "held", server_default=None)


def _sqlite(connection: sa.Connection) -> None:
    """A column cannot be made nullable: the table is made anew. The triggers that name it are put aside meanwhile."""
    found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%labels%'"
    triggers = connection.exec_driver_sql(found).all()
    for name, _ in triggers:
        connection.exec_driver_sql(f"DROP TRIGGER {name}")
    for index in ("labels_of_sentence", "labels_of_call", "labels_by_author"):
        op.drop_index(index, "labels")
    op.rename_table("labels", "labels_before")
    op.create_table(
        "labels",
        sa.Column("id", sa.Integer(), primary_key=True),
        sa.Column("sentence", sa.String(), sa.ForeignKey("sentences.id", ondelete="CASCADE"), nullable=True),
        sa.Column("call", sa.String(), sa.ForeignKey("calls.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.Column("predicted", sa.String(), nullable=False),
        sa.Column("author", sa.String(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("where", sa.String(), nullable=False),
        sa.Column("sample", sa.Boolean(), nullable=False),
        sa.Column("turn", sa.String(), sa.ForeignKey("turns.id", ondelete="CASCADE"), nullable=True),
        sa.Column("author_role", sa.String(), nullable=False),
        sa.Column("why", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("held", sa.Boolean(), nullable=False),
    )
    connection.exec_driver_sql(
        f"INSERT INTO labels ({COLUMNS}, author_role, why, model, held) "
        f"SELECT {COLUMNS}, '', '', '', 0 FROM labels_before"
    )
    op.drop_table("labels_before")
    op.create_index("labels_of_sentence", "labels", ["sentence"])
    op.create_index("labels_of_call", "labels", ["call"])
    op.create_index("labels_by_author", "labels", ["author", "at"])
    for _, sql in triggers:
        connection.exec_driver_sql(sql)

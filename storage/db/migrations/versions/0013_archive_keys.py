"""The keys of calls in an archive that cannot be rewritten."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "archive_keys",
        sa.Column("id", sa.String(), primary_key=True),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("made_at", sa.Float(), nullable=False),
    )
    op.create_index("archive_keys_of_call", "archive_keys", ["call"], unique=True)

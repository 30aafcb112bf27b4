"""The summary of a call that a language model wrote, beside the one made of sentences."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("calls", sa.Column("written_summary", sa.JSON(), nullable=False, server_default="{}"))

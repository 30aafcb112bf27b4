"""The summary of a call, what people put right in it, and the code with which they wrapped it up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("calls", sa.Column("summary", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("calls", sa.Column("mended", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("calls", sa.Column("wrap_up", sa.String(), nullable=False, server_default=""))

"""The moods of calls that are going on, made when something is said; sentences by sentiment and intent, newest first.

Calls that are live during the step get their curves with the next thing that is said in them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("calls", sa.Column("curves", sa.String(), nullable=False, server_default=""))
    op.create_index("sentences_by_sentiment", "sentences", ["sentiment", "spoken_at", "id"])
    op.create_index("sentences_by_intent", "sentences", ["intent", "spoken_at", "id"])

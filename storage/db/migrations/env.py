"""Alembic's way in. The connection is ours, in a transaction already; `tenor db upgrade` is the command."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

import storage.tables  # noqa: F401  # the tables register themselves

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=SQLModel.metadata,
    render_as_batch=True,  # SQLite changes a column by copying its table
)
context.run_migrations()

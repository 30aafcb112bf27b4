"""Alembic's way in. The connection is ours, in a transaction already; `tenor db upgrade` is the command."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()

"""The database itself: SQLite or PostgreSQL by URL, its schema and migrations, its errors, and waiting for it."""

"""Search finds a sentence by the correction that counts, not by the newest: an agent's own comes last."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"

WORDS = """
    SELECT substr(s.text, 1, 100000) || coalesce((
        SELECT ' 0gap0 ' || substr(l.value, 1, 100000) FROM labels l
        WHERE l.sentence = s.id AND l.kind = 'text'
        ORDER BY l.author = (SELECT c.agent FROM calls c WHERE c.id = l.call), l.at DESC, l.id DESC LIMIT 1
    ), '') FROM sentences s WHERE s.id = """
"""The document of a sentence, the same SQL on both."""

SQLITE = (
    "DROP TRIGGER fts_sentence_changed",
    f"""CREATE TRIGGER fts_sentence_changed AFTER UPDATE OF text ON sentences WHEN old.text IS NOT new.text BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.id) WHERE sentence = new.id;
    END""",
    "DROP TRIGGER fts_label_added",
    f"""CREATE TRIGGER fts_label_added AFTER INSERT ON labels WHEN new.kind = 'text' BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
    END""",
    "DROP TRIGGER fts_label_changed",
    f"""CREATE TRIGGER fts_label_changed AFTER UPDATE ON labels WHEN new.kind = 'text' BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
    END""",
    "DROP TRIGGER fts_label_removed",
    f"""CREATE TRIGGER fts_label_removed AFTER DELETE ON labels
        WHEN old.kind = 'text' AND EXISTS (SELECT 1 FROM sentences WHERE id = old.sentence) BEGIN
        UPDATE fts_documents SET words = ({WORDS} old.sentence) WHERE sentence = old.sentence;
    END""",
)

POSTGRES = (
    f"""CREATE OR REPLACE FUNCTION fts_sentence_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.id) WHERE sentence = new.id;
        RETURN NULL;
    END $$""",
    f"""CREATE OR REPLACE FUNCTION fts_label_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'DELETE' THEN
            UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
        ELSIF EXISTS (SELECT 1 FROM sentences WHERE id = old.sentence) THEN
            UPDATE fts_documents SET words = ({WORDS} old.sentence) WHERE sentence = old.sentence;
        END IF;
        RETURN NULL;
    END $$""",
)


def upgrade() -> None:
    connection = op.get_bind()
    for statement in POSTGRES if connection.dialect.name == "postgresql" else SQLITE:
        connection.exec_driver_sql(statement)
    corrected = "SELECT sentence FROM labels WHERE kind = 'text'"
    connection.exec_driver_sql(f"UPDATE fts_documents SET words = ({WORDS} sentence) WHERE sentence IN ({corrected})")

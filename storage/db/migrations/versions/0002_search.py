"""Full-text search: one document for each sentence, kept true by triggers. `storage/search/index.py` asks it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

LONGEST = 100_000
"""Characters of a sentence that are indexed; a tsvector holds a megabyte at most."""
GAP = "0gap0"
"""Between a text and its correction, so that no phrase reaches from one into the other."""

WORDS = f"""
    SELECT substr(s.text, 1, {LONGEST}) || coalesce((
        SELECT ' {GAP} ' || substr(l.value, 1, {LONGEST}) FROM labels l
        WHERE l.sentence = s.id AND l.kind = 'text' ORDER BY l.at DESC, l.id DESC LIMIT 1
    ), '') FROM sentences s WHERE s.id = """
"""The document of a sentence, the same SQL on both."""

STEP = 1 << 20
"""Room for the documents of one millisecond."""
LAST_MS = 8_000_000_000_000
"""In the year 2223; what claims to be later counts as this, since numbers end."""


def _first_number(spoken_at: str) -> str:
    """SQL for the smallest number of a document on SQLite. FTS5 gives its matches in the order of their numbers, so
    numbers go by time: the newest of a million matches are found without looking at the others. (Row ids of
    `sentences` would not do: VACUUM may change them.)"""
    return f"CAST(max(0, min(round({spoken_at} * 1000), {LAST_MS})) AS INTEGER) * {STEP}"


def _next_number(spoken_at: str) -> str:
    first = _first_number(spoken_at)
    taken = f"number BETWEEN {first} AND {first} + {STEP - 1}"
    return f"(SELECT coalesce(max(number) + 1, {first}) FROM fts_documents WHERE {taken})"


SQLITE = (
    """CREATE TABLE fts_documents (
        number INTEGER PRIMARY KEY,
        sentence TEXT NOT NULL UNIQUE,
        words TEXT NOT NULL)""",
    """CREATE VIRTUAL TABLE fts_index USING fts5 (
        words, content='fts_documents', content_rowid='number', tokenize='unicode61 remove_diacritics 2')""",
    """CREATE TRIGGER fts_documents_added AFTER INSERT ON fts_documents BEGIN
        INSERT INTO fts_index (rowid, words) VALUES (new.number, new.words);
    END""",
    """CREATE TRIGGER fts_documents_removed AFTER DELETE ON fts_documents BEGIN
        INSERT INTO fts_index (fts_index, rowid, words) VALUES ('delete', old.number, old.words);
    END""",
    """CREATE TRIGGER fts_documents_changed AFTER UPDATE OF words, number ON fts_documents BEGIN
        INSERT INTO fts_index (fts_index, rowid, words) VALUES ('delete', old.number, old.words);
        INSERT INTO fts_index (rowid, words) VALUES (new.number, new.words);
    END""",
    f"""CREATE TRIGGER fts_sentence_added AFTER INSERT ON sentences BEGIN
        INSERT INTO fts_documents (number, sentence, words)
        VALUES ({_next_number("new.spoken_at")}, new.id, substr(new.text, 1, {LONGEST}));
    END""",
    """CREATE TRIGGER fts_sentence_removed AFTER DELETE ON sentences BEGIN
        DELETE FROM fts_documents WHERE sentence = old.id;
    END""",
    f"""CREATE TRIGGER fts_sentence_changed AFTER UPDATE OF text ON sentences WHEN old.text IS NOT new.text BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.id) WHERE sentence = new.id;
    END""",
    f"""CREATE TRIGGER fts_sentence_moved AFTER UPDATE OF spoken_at ON sentences
        WHEN old.spoken_at IS NOT new.spoken_at BEGIN
        UPDATE fts_documents SET number = {_next_number("new.spoken_at")} WHERE sentence = new.id;
    END""",
    f"""CREATE TRIGGER fts_label_added AFTER INSERT ON labels WHEN new.kind = 'text' BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
    END""",
    f"""CREATE TRIGGER fts_label_changed AFTER UPDATE ON labels WHEN new.kind = 'text' BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
    END""",
    f"""CREATE TRIGGER fts_label_removed AFTER DELETE ON labels
        WHEN old.kind = 'text' AND EXISTS (SELECT 1 FROM sentences WHERE id = old.sentence) BEGIN
        UPDATE fts_documents SET words = ({WORDS} old.sentence) WHERE sentence = old.sentence;
    END""",
)

POSTGRES = (
    # Nearly every text is ASCII, which the short way handles several times as fast; chr(37) is the percent sign.
    r"""CREATE TABLE fts_documents (
        sentence varchar PRIMARY KEY,
        words text NOT NULL,
        lexemes tsvector GENERATED ALWAYS AS (to_tsvector('simple', CASE
            WHEN octet_length(words) = length(words)
            THEN translate(words, chr(37) || $p$!"#$&'()*+,-./:;<=>?@[\]^_`{|}~$p$, repeat(' ', 32))
            ELSE regexp_replace(
                normalize(regexp_replace(normalize(words, NFD), '[\u0300-\u036f]', '', 'g'), NFC) COLLATE %(collation)s,
                '[^[:alnum:]]+', ' ', 'g')
        END)) STORED)""",
    "CREATE INDEX fts_index ON fts_documents USING gin (lexemes)",
    f"""CREATE FUNCTION fts_sentences_added() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO fts_documents (sentence, words) SELECT id, substr(text, 1, {LONGEST}) FROM fresh;
        RETURN NULL;
    END $$""",
    """CREATE FUNCTION fts_sentences_removed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        DELETE FROM fts_documents WHERE sentence IN (SELECT id FROM gone);
        RETURN NULL;
    END $$""",
    f"""CREATE FUNCTION fts_sentence_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE fts_documents SET words = ({WORDS} new.id) WHERE sentence = new.id;
        RETURN NULL;
    END $$""",
    f"""CREATE FUNCTION fts_label_changed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP <> 'DELETE' THEN
            UPDATE fts_documents SET words = ({WORDS} new.sentence) WHERE sentence = new.sentence;
        ELSIF EXISTS (SELECT 1 FROM sentences WHERE id = old.sentence) THEN
            UPDATE fts_documents SET words = ({WORDS} old.sentence) WHERE sentence = old.sentence;
        END IF;
        RETURN NULL;
    END $$""",
    """CREATE TRIGGER fts_sentences_added AFTER INSERT ON sentences REFERENCING NEW TABLE AS fresh
        FOR EACH STATEMENT EXECUTE FUNCTION fts_sentences_added()""",
    """CREATE TRIGGER fts_sentences_removed AFTER DELETE ON sentences REFERENCING OLD TABLE AS gone
        FOR EACH STATEMENT EXECUTE FUNCTION fts_sentences_removed()""",
    """CREATE TRIGGER fts_sentence_changed AFTER UPDATE ON sentences
        FOR EACH ROW WHEN (old.text IS DISTINCT FROM new.text) EXECUTE FUNCTION fts_sentence_changed()""",
    """CREATE TRIGGER fts_label_changed AFTER INSERT OR UPDATE ON labels
        FOR EACH ROW WHEN (new.kind = 'text') EXECUTE FUNCTION fts_label_changed()""",
    """CREATE TRIGGER fts_label_removed AFTER DELETE ON labels
        FOR EACH ROW WHEN (old.kind = 'text') EXECUTE FUNCTION fts_label_changed()""",
)


def upgrade() -> None:
    connection = op.get_bind()
    postgres = connection.dialect.name == "postgresql"
    for statement in POSTGRES if postgres else SQLITE:
        if "%(collation)s" in statement:
            statement = statement.replace("%(collation)s", _collation(connection))
        connection.exec_driver_sql(statement)
    first = _first_number("spoken_at")
    number = "" if postgres else f"{first} + row_number() OVER (PARTITION BY {first}) - 1, "
    columns = "sentence, words" if postgres else "number, sentence, words"
    connection.execute(
        sa.text(f"INSERT INTO fts_documents ({columns}) SELECT {number}id, ({WORDS} t.id) FROM sentences t")
    )


def _collation(connection: sa.Connection) -> str:
    """One that knows every script's letters, whatever the database was made with."""
    there = connection.execute(sa.text("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'")).first()
    return '"und-x-icu"' if there else '"default"'

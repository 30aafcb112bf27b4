"""What is kept: the database, the recordings, and all that is read from them.

    topics sentences, calls, notes, dead               topics audio, transcripts, calls
                    |                                                |
                 writer/                                         recorder/
     one transaction for each batch of events       one file for each call, what is to be redacted silenced
                    |                                                |
                    v                                                v
    db/  tables.py: calls, sentences, alerts, notes, ...   recorder/store.py: a folder or any fsspec URL
                    |
        .-----------+-----------+------------+-------------.
        |           |           |            |             |
    queries/     search/     labels/     transfer/      privacy/
    for pages    full text   what people export and     erasure, retention,
    and the API              said        import         finding personal data

    calls, labels --> archive/ --> snapshots/ --> datasets/ --> runs/, jobs/ --> registry/ (candidates, promotions)
    drift/ compares each day with what the model in force was trained on

Every query about calls takes a viewer (viewer.py), which decides what that person may see. sample/ makes up weeks of
calls to show.
"""

from storage.db.engine import Database, open_database, using
from storage.viewer import HOUSE, ROLES, Role, Viewer

__all__ = ["HOUSE", "ROLES", "Database", "Role", "Viewer", "open_database", "using"]

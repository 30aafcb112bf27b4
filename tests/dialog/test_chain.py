"""A shopper writes, and everything behind it is like that of any other call: sentences, search, turns, the end."""

from __future__ import annotations

from contextlib import AsyncExitStack

from nlp.worker import NlpWorker
from storage.db.engine import open_database
from storage.queries import calls
from storage.search import SearchQuery, search
from storage.transfer.exporter import render
from storage.viewer import HOUSE
from storage.writer.worker import StorageWorker
from tenor.runtime.running import running
from tenor.settings import Settings
from tests.dialog.rig import Rig
from tests.nlp.rig import WordLists
from tests.watching import until


async def test_a_written_conversation_is_kept_and_found_like_any_other(sqlite_settings: Settings) -> None:
    async with Rig(sqlite_settings) as rig, AsyncExitStack() as stack:
        await stack.enter_async_context(running(rig.workers.make(rig.bus)))
        await stack.enter_async_context(running(NlpWorker(rig.bus, sqlite_settings, WordLists())))
        await stack.enter_async_context(running(StorageWorker(rig.bus, sqlite_settings)))
        await rig.open()
        answers = [await rig.say("how much are jeans", 1), await rig.say("thanks, great", 2)]
        database = open_database(sqlite_settings)

        def said() -> list[tuple[str, str]]:
            with database.session() as session:
                found = calls.whole(session, HOUSE, "c")
                return [(row.role, row.text) for row in found.sentences] if found is not None else []

        await until(lambda: sum(role == "assistant" for role, _ in said()) >= 3)
        await rig.end()

        def kept() -> bool:
            with database.session() as session:
                found = calls.find(session, HOUSE, "c")
                return found is not None and found.state == "analysed"

        await until(kept)
        told = " ".join(text for role, text in said() if role == "assistant")
        assert all(answer.reply in told for answer in answers)
        with database.session() as session:
            found = calls.whole(session, HOUSE, "c")
            assert found is not None
            assert (found.call.medium, found.call.roles) == ("chat", ["caller", "assistant"])
            assert [row.input for row in found.turns] == ["", "how much are jeans", "thanks, great"]
            assert found.call.mood_caller == 0.5
            roles = [row.role for row in found.sentences]
            assert roles[:3] == ["assistant", "assistant", "caller"]  # two sentences of greeting
            hits = search(session, HOUSE, SearchQuery(words="jeans")).hits
            assert {hit.role for hit in hits} == {"caller", "assistant"}
            assert "assistant (" in render(session, found, "txt")
        database.close()

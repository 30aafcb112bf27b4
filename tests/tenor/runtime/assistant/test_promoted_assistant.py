"""An assistant's model is promoted while conversations go on: each keeps the one it began with, to its end."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nlp.inference.assistant.assistant_model import DEFAULT
from tenor.events import Call
from tenor.model_store.card import CARD
from tenor.model_store.digest import digest_of, file_hashes
from tenor.runtime.assistant.understanding import PromotedUnderstanders, assistant_models, understander
from tenor.runtime.models import check_model, golden_for
from tenor.settings import Settings
from tests.model_folders import promoted, promotion

LINE = "will it rain in Boston tomorrow"


def shop_model(models: Path, model: str, **changes: Any) -> str:
    """The assistant's model that ships, under another name; its digest."""
    name, _, version = model.rpartition("-")
    folder = models / model
    folder.mkdir(parents=True)
    shutil.copyfile(DEFAULT / "model.onnx", folder / "model.onnx")
    card = msgspec.json.decode((DEFAULT / CARD).read_bytes())
    (folder / CARD).write_bytes(msgspec.json.encode({**card, "name": name, "version": version, **changes}))
    (folder / "golden.jsonl").write_bytes(golden_for("assistant", folder))
    hashes = file_hashes(folder)
    files = {file: sha256 for file, sha256 in hashes.items() if file != CARD}
    card |= {"name": name, "version": version, "kind": "assistant", "files": files, **changes}
    (folder / CARD).write_bytes(msgspec.json.encode(card))
    return digest_of(file_hashes(folder))


def conversation(started_at: float) -> Call:
    return Call(source="web", roles=("caller", "assistant"), started_at=started_at, medium="chat")


@pytest.mark.slow
def test_a_conversation_keeps_the_model_with_which_it_began(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    models, now = settings.models_folder, time.time()
    assert models is not None
    versions = PromotedUnderstanders(assistant_models(settings, understander))
    old = versions.of("old", conversation(now - 60), now)
    assert old.model == "tenor-assistant-1"
    promoted(models, promotion("shop-1", shop_model(models, "shop-1"), now - 5, kind="assistant"))
    assert versions.of("old", conversation(now - 60), now).model == "tenor-assistant-1"
    new = versions.of("new", conversation(now), now)
    assert new.model.startswith("shop-1@")
    assert new.understander.read(LINE).intents[0] == old.understander.read(LINE).intents[0]
    versions.release(["old", "new"])
    assert len(versions.pool.loaded) == 2
    versions.release(["new"])
    assert len(versions.pool.loaded) == 1
    check_model("assistant", models / "shop-1")


@pytest.mark.slow
def test_one_whose_labels_are_in_another_order_is_not_taken(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    models, now = settings.models_folder, time.time()
    assert models is not None
    shop_model(models, "shop-1")
    card = msgspec.json.decode((models / "shop-1" / CARD).read_bytes())
    card["intents"] = list(reversed(card["intents"]))
    (models / "shop-1" / CARD).write_bytes(msgspec.json.encode(card))
    sha256 = digest_of(file_hashes(models / "shop-1"))
    promoted(models, promotion("shop-1", sha256, now - 5, kind="assistant"))
    versions = PromotedUnderstanders(assistant_models(settings, understander))
    assert versions.of("c", conversation(now), now).model == "tenor-assistant-1"
    assert "golden" in versions.pool.reports[0].reason

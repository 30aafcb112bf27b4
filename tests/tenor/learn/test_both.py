"""`tenor learn` with a recogniser and a language model: both are trained, judged and promoted, or neither is."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import soundfile

from finetune.gate import checks
from storage.db.engine import Database, using
from storage.registry.registry import Registry
from storage.runs import runs
from storage.sample.company import SITE
from storage.tables import Call
from tenor.errors import BadInput
from tenor.learn import LearnResult, StepReport, judging, learn, loop
from tenor.learn.steps import STEPS, StepRecords
from tenor.model_store.card import Kind
from tenor.settings import Settings
from tests.storage.rows import sentence
from tests.tenor.cli.recordings.test_evaluate import SAID
from tests.tenor.learn.company_home import ANN, home_of, prepare_home
from tests.tenor.learn.spoken_calls import CALL, RECIPE, add_call, add_spoken_calls, customers
from tests.tenor.learn.test_loop import FEW, HEAD, Killed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

KINDS: tuple[Kind, ...] = ("language", "speech")
DAY_S = 86_400


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("both")
    home = prepare_home(folder, calls=48)
    with using(home_of(home)) as database:
        add_spoken_calls(home_of(home), database, folder, calls=12, began=time.time() - 60 * DAY_S)
    return home


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "FEWEST_LABELS", FEW)
    monkeypatch.setattr(judging, "TIMED", 10)


@pytest.fixture
def settings(prepared: Path, tmp_path: Path) -> Settings:
    shutil.copytree(prepared, tmp_path / "home")
    return home_of(tmp_path / "home")


@pytest.fixture
def database(settings: Settings) -> Iterator[Database]:
    with using(settings) as opened:
        yield opened


def run(settings: Settings, database: Database, **more: Any) -> tuple[LearnResult, list[StepReport]]:
    told: list[StepReport] = []
    given = {"recipes": ["head", RECIPE], "values": [f"head.{value}" for value in HEAD], "promote": True}
    return learn(settings, database, ANN, told=told.append, **{**given, **more}), told


def champions(settings: Settings, database: Database) -> list[str]:
    registry = Registry(database, settings.models_folder)
    return [registry.champion(kind).id for kind in KINDS]


def test_both_are_promoted_or_neither_whoever_is_killed(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed where both models meet, and once one of the two cannot be loaded; what one model alone goes through is in
    test_loop.py."""
    write = StepRecords.write
    kill_at = ""

    def not_written(self: StepRecords, report: StepReport, inputs: str) -> None:
        if report.step == kill_at:
            raise Killed
        write(self, report, inputs)

    def deaf(kind: str, *_: object) -> None:
        if kind == "speech":
            raise BadInput("the golden answers are wrong")

    monkeypatch.setattr(StepRecords, "write", not_written)
    for kill_at in ("train", "gate"):  # noqa: B007 -- read above
        with pytest.raises(Killed):
            run(settings, database)
    kill_at = ""
    with monkeypatch.context() as patch:
        patch.setattr(loop, "check_model", deaf)
        with pytest.raises(BadInput, match="golden answers"):
            run(settings, database)
    assert champions(settings, database) == ["small-1", "deaf-1"]
    kill_at = "promote"
    with pytest.raises(Killed):
        run(settings, database)
    kill_at = ""
    result, told = run(settings, database)
    assert result.passed, told[5].text
    assert [report.step for report in told if not report.skipped] == ["archive", "promote"]
    assert "texts put right" in told[1].text
    assert "both" in told[5].text
    assert champions(settings, database) == ["house-1", "house-2"]
    *_, first, second = Registry(database, settings.models_folder).log().promotions
    assert {first.model, second.model} == {"house-1", "house-2"}
    assert first.effective_at == second.effective_at
    with database.session() as session:
        views = {view.run.recipe: view for view in runs.listing(session)}
    assert {recipe: view.run.parent for recipe, view in views.items()} == {"head": "small-1", RECIPE: "deaf-1"}
    assert all(Path(view.run.parameters["model"]).name == view.run.parent for view in views.values())
    assert {view.state for view in views.values()} == {"done"}


def test_a_misspelt_parameter_is_told_before_anything_is_done(settings: Settings, database: Database) -> None:
    for values, wrong in (
        (["head.epohcs=3"], "did you mean 'epochs'"),
        (["stepps=3"], "has no parameter 'stepps'"),
        ([f"{RECIPE}.steps=many"], "steps"),
    ):
        with pytest.raises(BadInput, match=wrong):
            run(settings, database, values=values)
    with database.session() as session:
        assert not runs.listing(session)


@pytest.mark.train
@pytest.mark.timeout(1800)
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_whisper_learns_from_calls_beside_the_language_model(prepared: Path, tmp_path: Path) -> None:
    """A sample call whose sentences people put right, three times over. So little makes nothing better, so neither is
    promoted; what is looked at is that Whisper's own way through all steps is whole."""
    shutil.copytree(prepared, tmp_path / "home")
    settings = home_of(tmp_path / "home")
    with using(settings) as database:
        who = [*islice(customers(held_out=False), 3), next(customers(held_out=True))]
        for number, customer in enumerate(who):
            said = SAID[-3:] if number == 3 else SAID[:-3]  # what is held out is said nowhere else
            add_recorded_call(settings, database, f"card-{number}", customer, said)
        values = [f"head.{value}" for value in HEAD]
        few = ("steps=2", "batch=1", "threads=1", "least_match=0", "checkpoint_every=1", "validate_every=2")
        values += [f"whisper.{value}" for value in few]
        Registry(database, settings.models_folder).rollback(ANN, "speech", "it hears tones")
        result, told = run(settings, database, recipes=["head", "whisper"], values=values, search=f"site:{SITE}")
        assert [step.step for step in told] == list(STEPS)
        assert not result.promoted
        assert "neither" in told[5].text or "cannot tell" in told[5].text


def add_recorded_call(
    settings: Settings, database: Database, name: str, customer: str, spans: Sequence[tuple[int, int, int, str]]
) -> None:
    samples, rate = soundfile.read(CALL, stop=47 * 16_000)
    soundfile.write(Path(settings.recordings_url) / f"{name}.flac", samples, rate)
    at = time.time() - 20 * DAY_S
    about: dict[str, Any] = {
        "started_at": at,
        "state": "analysed",
        "state_at": at + 100,
        "customer": customer,
        "queue": "cards",
        "site": SITE,
    }
    said = [
        sentence(
            name, start, "caller" if channel == 1 else "agent", channel=channel - 1, end_ms=end,
            spoken_at=at + end / 1000, text=f"{text} uh",
        )
        for channel, start, end, text in spans
    ]  # fmt: skip
    labels = [{"intent": "greeting", "text": text} for *_, text in spans]
    add_call(database, Call(id=name, recording=f"{name}.flac", roles=["caller", "agent"], **about), said, labels)

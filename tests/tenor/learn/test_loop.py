"""The whole loop on a small company: what it makes, what it skips, and that a kill anywhere changes nothing."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest
from sqlmodel import Session, select

from finetune.gate import checks
from storage.datasets import listing as datasets
from storage.datasets.making import make
from storage.datasets.splits import plain_words
from storage.db.engine import Database, using
from storage.place import Place
from storage.registry.registry import Registry
from storage.sample.company import COMPANY
from storage.snapshots import restore
from storage.tables import Label
from storage.viewer import Viewer
from tenor.errors import BadInput, Refused, Unavailable
from tenor.learn import StepReport, finetune, judging, learn
from tenor.learn.steps import STAGES, STEPS, StepRecords, only_one
from tenor.model_store import read_card
from tenor.model_store.shipped import SHIPPED
from tenor.runtime.frozen import frozen_sentences
from tenor.settings import LearnSettings, Settings
from tests.tenor.cli.command import environment, tenor
from tests.tenor.learn.company_home import ANN, State, as_made_up, home_of, prepare_home, state_of

pytestmark = pytest.mark.slow

CALLS = 48
FEW = 40
"""Labels that are enough to judge by, where so few are there."""
HEAD = ("replay=0", "epochs=20")
needs_torch = (
    pytest.mark.train,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
)
OWN = {one["name"] for one in COMPANY["intents"] if one.get("own")}


class Killed(BaseException):
    """Nobody catches it."""


def killed(*_: object, **__: object) -> None:
    raise Killed


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare_home(tmp_path_factory.mktemp("prepared"), calls=CALLS)


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


def run(settings: Settings, database: Database, **more: object) -> tuple[bool, list[StepReport]]:
    told: list[StepReport] = []
    given = {"values": HEAD, "promote": True, "told": told.append, **more}
    result = learn(settings, database, ANN, **given)  # type: ignore[arg-type]
    return result.passed, told


@pytest.fixture(scope="module")
def undisturbed(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> State:
    folder = tmp_path_factory.mktemp("undisturbed") / "home"
    shutil.copytree(prepared, folder)
    patch = pytest.MonkeyPatch()
    with patch.context() as changed, using(home_of(folder)) as database:
        changed.setattr(checks, "FEWEST_LABELS", FEW)
        changed.setattr(judging, "TIMED", 10)
        passed, told = run(home_of(folder), database)
        assert passed, told[5].text
        assert [report.step for report in told] == list(STEPS)
        again_passed, again = run(home_of(folder), database)
        assert again_passed
        assert [report.step for report in again if not report.skipped] == ["archive", "promote"]
        assert "nothing is new" in again[0].text
        assert "in force already" in again[-1].text
        return state_of(home_of(folder), database)


def test_labels_become_a_model_in_force_and_the_second_run_finds_all_current(undisturbed: State) -> None:
    assert undisturbed.promotions == [("small-1", SHIPPED["language"].id), ("house-1", "small-1")]
    assert undisturbed.models["house-1"][0] == "champion"
    assert undisturbed.runs == [("done", "house-1")]
    assert (len(undisturbed.datasets), undisturbed.snapshots, undisturbed.gates) == (1, 1, 1)


def test_a_kill_at_any_step_changes_nothing(
    settings: Settings, database: Database, undisturbed: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each step twice: when it is done but not written down, and when it is written down."""
    write = StepRecords.write
    for step in STEPS:

        def not_written(self: StepRecords, report: StepReport, inputs: str, step: str = step) -> None:
            if report.step == step:
                raise Killed
            write(self, report, inputs)

        def told(report: StepReport, step: str = step) -> None:
            if report.step == step:
                raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(StepRecords, "write", not_written)
            with pytest.raises(Killed):
                run(settings, database)
        with pytest.raises(Killed):
            run(settings, database, told=told)
    assert run(settings, database)[0]
    assert state_of(settings, database) == undisturbed


def test_a_run_that_was_cut_short_goes_on(
    settings: Settings, database: Database, undisturbed: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed within the training, and between the training and the registry."""
    for place in ("finetune.recipes.head.learned_head", "tenor.learn.training._registered"):
        with monkeypatch.context() as patch:
            patch.setattr(place, killed)
            with pytest.raises(Killed):
                run(settings, database)
    assert run(settings, database)[0]
    assert state_of(settings, database) == undisturbed


@pytest.mark.parametrize(
    ("recipe", "values"),
    [
        ("head", HEAD),
        pytest.param("layers", ("model=", "replay=0", "epochs=1", "threads=1"), marks=needs_torch),
    ],
)
@pytest.mark.timeout(1200)
def test_a_run_repeated_from_its_snapshot_gives_the_same_model(
    settings: Settings, database: Database, tmp_path: Path, recipe: str, values: tuple[str, ...]
) -> None:
    learn(settings, database, ANN, recipes=[recipe], values=values, promote=False)
    [first] = datasets(Place(settings.learn_url))
    restore(settings, first.snapshot, str(tmp_path / "restored"))
    learning = LearnSettings(url=str(tmp_path / "restored"), models=str(settings.models_folder))
    restored = settings.model_copy(update={"learn": learning})
    frozen = {plain_words(text) for text in frozen_sentences()}
    again = make(
        database, restored, "again", "", snapshot=first.snapshot, by="ann", viewer=ANN, samples=False, frozen=frozen
    )
    assert again.hash == first.hash
    repeated = finetune(restored, database, ANN, again.reference, recipe=recipe, values=values)
    folder = settings.models_folder
    assert folder is not None
    assert read_card(folder / repeated.model).files == read_card(folder / "house-1").files


@pytest.mark.slow
def test_kill_9(prepared: Path, tmp_path: Path) -> None:
    """The command, while it trains. 48 calls are too few to tell, so it ends with 1."""
    shutil.copytree(prepared, tmp_path / "home")
    command = ["learn", "--promote", *(part for value in HEAD for part in ("--set", value))]
    shown = environment() | {"TENOR_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, "-m", "tenor", *command], env=shown, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("4 dataset"):
                process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    (tmp_path / "tenor.toml").write_text(f'home = "{tmp_path / "home"}"\n')
    done = tenor(*command, "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    steps = [msgspec.json.decode(line) for line in done.stdout.splitlines()]
    assert [(step["step"], step["stage"]) for step in steps] == list(STAGES.items())
    assert [step["step"] for step in steps if step["skipped"]] == ["labels", "snapshot", "dataset"]
    assert "cannot tell yet" in steps[5]["text"]
    with using(home_of(tmp_path / "home")) as database:
        state = state_of(home_of(tmp_path / "home"), database)
    assert len(state.datasets) == 1
    assert [model for model in state.models if model.startswith("house")] == ["house-1"]
    assert state.runs[-1] == ("done", "house-1")


# -- bad input


def test_nobody_has_labelled_anything(sqlite_settings: Settings) -> None:
    with using(sqlite_settings) as database, pytest.raises(BadInput, match="nobody has labelled") as wrong:
        run(sqlite_settings, database)
    assert "Review" in wrong.value.hint
    assert "tenor labels import" in wrong.value.hint


def relabel(session: Session, value: str) -> None:
    for label in session.exec(select(Label)):
        label.value = value
        session.add(label)


def test_one_class_teaches_nothing(settings: Settings, database: Database) -> None:
    with database.begin() as session:
        relabel(session, "cancel")
    with pytest.raises(BadInput, match="cancel"):
        run(settings, database)
    assert [one.id for one in Registry(database, settings.models_folder).versions("language") if not one.ships] == [
        "small-1"
    ]


def test_too_few_labels_are_told_and_nothing_is_promoted(
    settings: Settings, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "FEWEST_LABELS", 400)
    passed, told = run(settings, database)
    assert not passed
    assert "more random labels would tell" in told[5].text
    assert "the model in force stays" in told[7].text
    assert Registry(database, settings.models_folder).champion("language").id == "small-1"


def test_a_person_promotes_unless_a_setting_says_otherwise(settings: Settings, database: Database) -> None:
    passed, told = run(settings, database, promote=None)
    assert passed
    assert "`tenor models promote house-1`" in told[-1].text
    assert Registry(database, settings.models_folder).champion("language").id == "small-1"
    auto = settings.model_copy(update={"learn": settings.learn.model_copy(update={"promote": "auto"})})
    _, again = run(auto, database, promote=None)
    assert [report.step for report in again if not report.skipped] == ["archive", "promote"]
    assert Registry(database, settings.models_folder).champion("language").id == "house-1"
    assert settings.models_folder is not None
    assert set(read_card(settings.models_folder / "house-1").heads["intent"]) >= OWN


def test_what_was_rolled_back_is_not_offered_again(settings: Settings, database: Database) -> None:
    assert run(settings, database)[0]
    registry = Registry(database, settings.models_folder)
    registry.rollback(ANN, "language", "it hears bees everywhere")
    passed, told = run(settings, database)
    assert not passed
    assert "house-1 was rolled back" in told[-1].text
    assert [report.step for report in told if not report.skipped] == ["archive", "promote"]
    assert registry.champion("language").id == "small-1"


def test_a_search_that_finds_nothing_and_a_recipe_that_is_none(settings: Settings, database: Database) -> None:
    with pytest.raises(BadInput, match="no sentence that the search finds has a label"):
        run(settings, database, search="queue:nowhere")
    with pytest.raises(BadInput, match="did you mean 'head'"):
        run(settings, database, recipes=("heads",))


def test_one_loop_at_a_time_and_only_by_those_who_train(settings: Settings, database: Database) -> None:
    with only_one(settings), pytest.raises(Unavailable, match="another `tenor learn`"):
        run(settings, database)
    with pytest.raises(Refused):
        learn(settings, database, Viewer("max", "manager"))


def test_a_record_that_cannot_be_read_costs_only_time(settings: Settings, database: Database) -> None:
    with pytest.raises(BadInput, match="queue"):
        run(settings, database, search="qeue:field")
    place = Place(settings.learn_url)
    place.write("loops/house.json", b"{half a fi")
    assert StepRecords(place, "house").unchanged("labels", "") is None


def test_made_up_calls_are_not_learned_from_unless_asked_for(settings: Settings, database: Database) -> None:
    as_made_up(database, made_up=True)

    with pytest.raises(BadInput, match="has a label"):
        learn(settings, database, ANN, recipes=["head"], values=HEAD)

    names = {version.name for version in Registry(database, settings.models_folder).versions("language")}
    assert "house" not in names

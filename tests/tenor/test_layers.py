"""Settings: which layer wins, and what a wrong value is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenor.errors import BadInput
from tenor.layers import FIELDS, load


def test_defaults_need_no_file_and_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loaded = load(environment={})
    assert loaded.settings.bus_url == "sqlite:///.tenor/bus.db"
    assert set(loaded.origins.values()) == {"default"}


def test_each_layer_overrides_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "tenor.toml"
    file.write_text('[bus]\npartitions = 3\nlease_s = 5.0\nurl = "kafka://file:9092"\n')
    environment = {"TENOR_BUS__URL": "kafka://environment:9092", "TENOR_BUS__LEASE_S": "7"}
    loaded = load({"bus.url": "kafka://flag:9092"}, file=file, environment=environment)
    bus = loaded.settings.bus
    assert (bus.partitions, bus.lease_s, bus.url) == (3, 7.0, "kafka://flag:9092")
    assert loaded.origins["bus.partitions"] == str(file)
    assert loaded.origins["bus.lease_s"] == "TENOR_BUS__LEASE_S"
    assert loaded.origins["bus.url"] == "flag"


def test_a_flag_that_was_not_given_changes_nothing() -> None:
    assert load({"bus.partitions": None}, environment={"TENOR_BUS__PARTITIONS": "4"}).settings.bus.partitions == 4


@pytest.mark.parametrize(
    ("text", "value"), [("caller,agent", ["caller", "agent"]), ('["a b"]', ["a b"]), ("", []), (" x , y ", ["x", "y"])]
)
def test_lists_can_be_written_as_text(text: str, value: list[str]) -> None:
    assert load(environment={"TENOR_INGEST__ROLES": text}).settings.ingest.roles == value


def test_tables_can_be_written_as_text_or_json_or_toml(tmp_path: Path) -> None:
    file = tmp_path / "tenor.toml"
    file.write_text('[speech.metadata]\nauthorization = "Bearer k"\n')
    expected = {"authorization": "Bearer k"}
    assert load(file=file, environment={}).settings.speech.metadata == expected
    for text in ("authorization=Bearer k", '{"authorization": "Bearer k"}'):
        assert load(environment={"TENOR_SPEECH__METADATA": text}).settings.speech.metadata == expected


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"TENOR_BUS__SECURITY": "TLS"}, ["bus.security", "TENOR_BUS__SECURITY", "'SASL_SSL'"]),
        ({"TENOR_BUS__PARTITIONS": "many"}, ["bus.partitions", "integer"]),
        ({"TENOR_BUS__PARTITIONS": "0"}, ["bus.partitions", "greater than or equal to 1"]),
        ({"TENOR_BUS__URI": "x"}, ["bus.uri"]),
        ({"TENOR_SPEECH__METADATA": "novalue"}, ["speech.metadata", "key=value"]),
        ({"TENOR_INGEST__ROLES": '["open'}, ["ingest.roles", "JSON"]),
    ],
)
def test_a_wrong_value_is_told_which_setting_and_what_is_allowed(environment: dict[str, str], words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        load(environment=environment)
    assert all(word in caught.value.message for word in words), caught.value.message


def test_a_misspelt_setting_is_told_the_nearest() -> None:
    with pytest.raises(BadInput) as caught:
        load({"bus.partition": 3}, environment={})
    assert "bus.partitions" in caught.value.hint


def test_a_secret_is_not_repeated_in_the_error() -> None:
    with pytest.raises(BadInput) as caught:
        load({"gateway.genesys_keys": "[1]"}, environment={})
    assert "1" not in caught.value.message.partition("genesys_keys")[2]


@pytest.mark.parametrize("content", [b"[bus\n", b"\xff\xfe", b"bus = 3"])
def test_a_broken_file_is_one_clear_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "tenor.toml"
    file.write_bytes(content)
    with pytest.raises(BadInput):
        load(file=file, environment={})


def test_a_file_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        load(file=tmp_path / "none.toml", environment={})


def test_other_programs_variables_are_left_alone() -> None:
    load(environment={"TENOR_BENCH_DATA": "x", "TENORS__X": "y"})


def test_every_setting_says_what_it_is() -> None:
    assert [name for name, field in FIELDS.items() if not field.description] == []

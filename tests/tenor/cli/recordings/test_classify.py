"""`tenor classify`: sentences in, JSON lines out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from tenor.cli.commands.recordings.classify import classify
from tenor.cli.context import Context
from tenor.errors import BadInput
from tests.own_encoder_model import own_encoder_model

FIELDS = ["text", "sentiment", "sentiment_scores", "intent", "intent_score", "slots"]


def invoked(*arguments: str, stdin: bytes = b"", settings: list[str] | None = None) -> Result:
    app = typer.Typer()
    app.command()(classify)
    return CliRunner().invoke(app, list(arguments), input=stdin, obj=Context("", settings or [], "", "error"))


def answers(*arguments: str, stdin: bytes = b"", settings: list[str] | None = None) -> list[dict[str, Any]]:
    result = invoked(*arguments, stdin=stdin, settings=settings)
    if result.exception is not None:
        raise result.exception
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_sentences_from_the_command_line() -> None:
    first, second = answers("i am furious with you", "please pay ten dollars to fossil gas")
    assert [name for name in first if name != "labels"] == FIELDS
    assert second["labels"] == {"aspect": "price"}
    assert first["sentiment"] == "negative"
    assert second["intent"] == "payment"
    assert second["slots"]["amount"] == "ten dollars"


def test_lines_from_standard_input_keep_their_places() -> None:
    found = answers(stdin="hello\n\nwhere is my order\r\nGrüße 😀".encode())
    assert [one["text"] for one in found] == ["hello", "", "where is my order", "Grüße 😀"]
    assert found[1]["intent"] == "unknown"


def test_another_language_is_said() -> None:
    [found] = answers("je voudrais annuler mon contrat pour la maison avec vous")
    assert found["language"] == "other"


def test_text_that_is_not_utf8_is_refused_with_its_line_after_the_answers_before_it() -> None:
    result = invoked(stdin=b"hello\n\xff\xfe\nbye\n")
    assert isinstance(result.exception, BadInput)
    assert "line 2" in str(result.exception)
    assert [json.loads(line)["text"] for line in result.stdout.splitlines()] == ["hello"]


def test_nothing_in_nothing_out() -> None:
    assert answers(stdin=b"") == []


def test_intents_of_ones_own(tmp_path: Path) -> None:
    examples = "\n".join(f"    - {text}" for text in ("order a taxi", "get me a cab", "i need a ride to the airport"))
    file = tmp_path / "intents.yaml"
    file.write_text(f"taxi:\n  description: Wants to be driven.\n  examples:\n{examples}\n")
    found = answers("--intents", str(file), "could you get me a taxi", "my cat is asleep on the sofa")
    assert [one["intent"] for one in found] == ["taxi", "unknown"]


def test_a_folder_that_is_no_model_is_explained(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no language model"):
        answers("--model", str(tmp_path), "hello")


def test_labels_and_classifiers_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "labels.yaml"
    file.write_text(
        "cross:\n  valence: -1\n  examples: [i am furious, this is a disgrace, you are useless]\n"
        "calm:\n  valence: 0\n  examples: [on monday at ten, my number is four five, what are your hours]\n"
    )
    settings = [f"language.sentiments={file}", 'language.classifiers={"aspect": "nlp.inference.heads.aspects:Aspects"}']
    first, second = answers("this is outrageous", "the courier left my parcel in the rain", settings=settings)
    assert (first["sentiment"], set(first["sentiment_scores"])) == ("cross", {"cross", "calm"})
    assert (list(second), second["labels"]) == ([*FIELDS, "labels"], {"aspect": "delivery"})


def test_a_classifier_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no module 'nowhere'"):
        answers("hello", settings=['language.classifiers={"topic": "nowhere:Topics"}'])


def test_a_model_that_tells_only_intents_is_completed_by_ours(tmp_path: Path) -> None:
    """As `finetune intents` makes them; its own labels count."""
    own = own_encoder_model(tmp_path, {"hello": "hello", "lost": "lost_card"})
    [found] = answers("--model", str(own), "i am furious, i lost my debit card on friday")
    assert (found["intent"], found["sentiment"], found["slots"]) == ("lost_card", "negative", {"date": "friday"})


def test_lines_of_json_are_answered_in_order_and_a_bad_one_does_not_stop_the_rest() -> None:
    lines = [
        b'{"text": "i am furious with you", "role": "caller", "before": "how can i help you today"}',
        b'{"text": "hello"',
        b'{"text": "hello", "role": "boss"}',
        b'{"role": "agent"}',
        b'{"text": "\xff"}',
        b"",
        b'{"text": "", "role": null, "before": null}',
        b'{"text": "goodbye", "said_at": 5}',
    ]
    result = invoked("--input", "json", stdin=b"\n".join(lines))
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one.get("text") for one in found] == ["i am furious with you", None, None, None, None, None, "", "goodbye"]
    assert [one["line"] for one in found if "error" in one] == [2, 3, 4, 5, 6]
    assert [name for name in found[0] if name != "labels"] == FIELDS
    assert result.exit_code == 2


def test_json_on_the_command_line() -> None:
    [found] = answers("--input", "json", '{"text": "goodbye", "role": "agent"}')
    assert found["intent"] == "closing"


def test_the_words_that_moved_an_answer() -> None:
    [found] = answers("--why", "i am furious about my order")
    assert found["sentiment"] == "negative"
    first = found["why"]["sentiment"][0]
    assert (first["word"], first["start"], first["end"]) == ("furious", 5, 12)
    assert 0 < first["moved"] <= 1
    assert sorted(one["word"] for one in found["why"]["intent"]) == ["about", "am", "furious", "i", "my", "order"]
    strengths = [abs(one["moved"]) for one in found["why"]["intent"]]
    assert strengths == sorted(strengths, reverse=True)
    assert answers("--why", "i am furious about my order") == [found]  # and the same each time
    assert "why" not in answers("i am furious about my order")[0]


def test_reasons_do_not_depend_on_what_else_is_asked_and_keep_the_context() -> None:
    lines = [{"text": "yes please", "role": "caller", "before": "shall i cancel it?"}, {"text": "where is my parcel"}]
    stdin = "".join(json.dumps(line) + "\n" for line in lines).encode()
    together = answers("--why", "--input", "json", stdin=stdin)
    assert [one["text"] for one in together] == ["yes please", "where is my parcel"]
    assert together[1]["why"] == answers("--why", "where is my parcel")[0]["why"]


def test_nothing_moved_an_answer_to_nothing() -> None:
    found = answers("--why", stdin=b"\nje voudrais annuler mon contrat pour la maison avec vous\n")
    assert [one["why"] for one in found] == [{"sentiment": [], "intent": []}] * 2


def test_text_for_people() -> None:
    shown = invoked("--why", "--output", "text", "i am furious with you", "please pay ten dollars").stdout.splitlines()
    assert shown[0] == "i am furious with you"
    assert shown[1].startswith("  negative 0.")
    assert "furious +0." in shown[1]
    assert "  amount: ten dollars" in shown

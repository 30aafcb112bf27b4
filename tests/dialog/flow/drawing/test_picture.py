"""Pictures of assistants: every state and way is in them, nothing overlaps, and no text breaks them."""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialog.flow.drawing.layout import layered
from dialog.flow.drawing.picture import dot, mermaid, picture_of
from dialog.flow.drawing.svg import svg
from dialog.flow.loading import check_texts, load
from dialog.flow.model import Assistant

HERE = Path(__file__).parent.parent
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = """
intent_transitions: {nomatch.none: which}
states:
  ask: {type: input_context}
  which:
    type: choose
    transitions:
      - {when: "text == '</svg><script>alert(1)</script>'", to: tell}
      - {when: 'text == "a|b]c{d" and not (results)', to: ask}
      - {to: tell}
  tell: {type: message_text, properties: {text: "5 < 6 & \\"so\\" on; </title>{% if text %}]]>{% endif %}"}, transitions: {next_state: ask}}
"""  # noqa: E501


@pytest.fixture(scope="module")
def paper() -> Assistant:
    return load(HERE / "mended")


@pytest.fixture(scope="module")
def hostile() -> Assistant:
    assistant = check_texts({"main_flow.yml": HOSTILE}).assistant
    assert assistant is not None
    return assistant


def test_a_picture_has_all_states_and_ways(paper: Assistant) -> None:
    picture = picture_of(paper)
    assert len(picture.nodes) == 38
    ways = {(edge.start, edge.end): edge.label for edge in picture.edges}
    assert ways["main_flow.init", "main_flow.input_intent"] == ""
    assert ways["main_flow.input_intent", "main_flow.humidity"] == "weather.humidity, weather.humidity_yes_no"
    assert ways["main_flow.rain", "weather_flow.check_weather_location"] == ""
    assert ways["retail_flow.store_location", "retail_flow.retail_state"] == "exists"
    assert [node.name for node in picture.nodes if node.first] == ["main_flow.init"]


def test_mermaid_and_dot_name_every_state_once(paper: Assistant) -> None:
    text = mermaid(paper, ["main_flow.init"])
    assert text.startswith("flowchart LR\n")
    assert text.count("subgraph") == text.count("\n  end\n") == 4
    assert len(re.findall(r'^    s\d+\W+"', text, re.MULTILINE)) == 38
    assert len(re.findall(r"^  s\d+ -->", text, re.MULTILINE)) == len(picture_of(paper).edges)
    assert "class s0 lit" in text
    graph = dot(paper)
    assert graph.count("label=") == 38 + 4 + sum(bool(edge.label) for edge in picture_of(paper).edges)
    assert graph.count("{") == graph.count("}") == 5


def test_the_drawing_shows_every_state_without_overlaps(paper: Assistant) -> None:
    tree = ElementTree.fromstring(svg(paper, ["main_flow.init"]))
    boxes = [one for one in tree.iter(f"{SVG}rect") if (one.get("class") or "").startswith("state")]
    assert len(boxes) == 38
    assert sum("lit" in str(one.get("class")) for one in boxes) == 1
    places = [tuple(float(one.get(key, "")) for key in ("x", "y", "width", "height")) for one in boxes]
    for (x, y, width, height), (x2, y2, *_) in combinations(places, 2):
        assert abs(x - x2) >= width or abs(y - y2) >= height
    width, height = float(tree.get("width", "")), float(tree.get("height", ""))
    assert all(x >= 0 and y >= 0 and x + w <= width and y + h <= height for x, y, w, h in places)
    words = " ".join(tree.itertext())
    assert "check_weather_location" in words
    assert "↩ main_flow.input_intent" in words


def test_no_text_breaks_a_picture(hostile: Assistant) -> None:
    tree = ElementTree.fromstring(svg(hostile))
    assert not list(tree.iter(f"{SVG}script"))
    assert "<script" not in svg(hostile)
    for line in mermaid(hostile).splitlines():
        assert line.count('"') in (0, 2)
        assert "<" not in line
    for line in dot(hostile).splitlines():
        assert line.replace('\\"', "").count('"') % 2 == 0


def test_a_graph_with_rings_and_islands_is_laid_out() -> None:
    names = [f"n{i}" for i in range(300)]
    edges = [(f"n{i}", f"n{(i * 7) % 290}") for i in range(290)] + [("n0", f"n{i}") for i in range(1, 60)]
    layout = layered(dict.fromkeys(names, 44.0), edges, "n0")
    assert set(layout.cells) == set(names)
    for column in layout.columns:
        tops = sorted((cell.middle - cell.height / 2, cell.height) for cell in column)
        for (top, height), (below, _) in pairwise(tops):
            assert top + height <= below + 1e-6
    assert layered({"a": 1.0}, [("a", "a")], "a").routes == {}

"""Texts with values: what an author may write, and that nothing they write runs code."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dialog.flow.template import LONGEST, Template, TemplateFault

PLACE = {"name": "Boston", "state": "MA", "latitude": 42.36}
WHEN = {"text": "tomorrow", "from": "2026-11-19", "to": "2026-11-19"}
STORES = [{"name": "Corner Deli", "price": 4.5}, {"name": "Main Market", "price": 12}, {"name": "Quick Stop"}]


@pytest.mark.parametrize(
    ("source", "context", "text"),
    [
        ("plain words, 100 % of them", {}, "plain words, 100 % of them"),
        ("{{weather_status}}", {"weather_status": "It is dry."}, "It is dry."),
        ("In {{ location }}, {{when}}.", {"location": PLACE, "when": WHEN}, "In Boston, tomorrow."),
        ("{{ location.state }} {{ location['name'] }}", {"location": PLACE}, "MA Boston"),
        ("{{ stores[0].name }} {{ stores[-1].name }}", {"stores": STORES}, "Corner Deli Quick Stop"),
        ("{{ 'Yes' if rain > 0 else 'No' }}", {"rain": 2}, "Yes"),
        ("{% if a and not b %}x{% elif b %}y{% else %}z{% endif %}", {"b": True}, "y"),
        ("{{ name ~ '!' }}", {"name": "Ann"}, "Ann!"),
        ("{{ high - low }}", {"high": 20, "low": 5}, "15"),
        ("{{ high - low }}", {"high": "warm", "low": 5}, ""),
        ("{{ price|money }} {{ 1299|money }}", {"price": 4.5}, "$4.50 $1,299"),
        ("{{ stores|listed('name') }}", {"stores": STORES}, "Corner Deli, Main Market and Quick Stop"),
        (
            "{{ stores|top(2)|each('{name} for {price|money}')|listed }}",
            {"stores": STORES},
            "Corner Deli for $4.50 and Main Market for $12",
        ),
        ("{{ stores|count }}, {{ stores|plural('store') }}", {"stores": STORES}, "3, 3 stores"),
        ("{{ 1|plural('inch', 'inches') }}", {}, "1 inch"),
        ("{{ when|date }}; {{ when|weekday }}", {"when": WHEN}, "Thursday, November 19; Thursday"),
        ("{{ '17:30'|time }} {{ '09:00'|time }}", {}, "5:30 pm 9 am"),
        ("{{ item|default('that') }}", {}, "that"),
        ("{{ 'milk'|capital }}", {}, "Milk"),
        ("{{ open }}", {"open": True}, "yes"),
        ("{{ 'rain' if measure in ['rain', 'snow'] }}", {"measure": "snow"}, "rain"),
        ("{{ 'known' if item is defined else 'unknown' }}", {"item": ""}, "unknown"),
    ],
)
def test_an_author_words_values(source: str, context: dict[str, Any], text: str) -> None:
    assert Template.parse(source).render(context) == text


def test_a_value_that_is_not_there_leaves_nothing_and_is_told() -> None:
    missing: list[str] = []
    template = Template.parse("In {{location}} {{result.rain.total|number}}{{ x|default('') }}.")
    assert template.render({"result": {}}, missing.append) == "In  ."
    assert missing == ["location", "result.rain"]


def test_the_checker_learns_which_variables_a_text_needs() -> None:
    template = Template.parse("{{ a.b }} {{ c|default(d) }} {% if e %}{{ f|money }}{% endif %} {{ g if h else 'i' }}")
    assert template.names == {"a", "c", "d", "e", "f", "g", "h"}
    assert template.needed == {"a", "d", "f", "g"}


@pytest.mark.parametrize(
    "source",
    [
        "{{ ''.__class__ }}",
        "{{ x.__class__.__mro__ }}",
        "{{ x['__class__'] }}",
        "{{ x[y] }}",
        "{{ _private }}",
        "{{ 'a'*10**8 }}",
        "{{ 2**99 }}",
        "{{ 7 % 2 }}",
        "{{ 9999999999999999 }}",
        "{{ cycler('a') }}",
        "{{ x() }}",
        "{{ x.items() }}",
        "{{ lipsum.__globals__ }}",
        "{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{% extends 'x' %}",
        "{% set x = 1 %}",
        "{% macro m() %}{% endmacro %}",
        "{% raw %}x",
        "{{ x|attr('__class__') }}",
        "{{ x|format(1) }}",
        "{{ x|map('upper') }}",
        "{{ x|number(*y) }}",
        "{{ x is callable }}",
        "{{ x[1:2] }}",
        "{{ {'a': 1} }}",
        "{{ 'ab'.upper }}",
        "{{ x",
        "{% if x %}",
        "{{ " + "(" * 1500 + "x" + ")" * 1500 + " }}",
        "{{ " + "not " * 900 + "x }}",
        "{{ " + "+".join(["x"] * 1500) + " }}",
        "x" * 5000,
        "{{ '" + "a" * 600 + "' }}",
    ],
)
def test_a_template_that_tries_more_is_refused(source: str) -> None:
    with pytest.raises(TemplateFault) as fault:
        Template.parse(source)
    assert "\n" not in fault.value.message
    assert fault.value.hint


class Trap:
    """An object whose every method would be noticed."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was read")


def test_objects_have_no_parts() -> None:
    assert Template.parse("{{ trap.secret }}").render({"trap": Trap()}) == ""


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1.5,
        float("nan"),
        float("inf"),
        pytest.param(10**5000, id="long"),
        "",
        "é🙂",
        [],
        [None, [1]],
        {},
        {"name": None},
        b"x",
        object(),
    ],
)
def test_no_value_breaks_a_filter(value: Any) -> None:
    from dialog.flow.filters import ARGUMENTS, FILTERS

    for name in FILTERS:
        arguments = f"({', '.join(['1'] * ARGUMENTS[name][0])})" if name in ARGUMENTS and ARGUMENTS[name][0] else ""
        text = Template.parse(f"{{{{ v|{name}{arguments} }}}}{{{{ v + 1 }}}}{{{{ v < 3 }}}}{{{{ v in v }}}}")
        assert isinstance(text.render({"v": value}), str)


def test_a_huge_value_gives_a_short_text_at_once() -> None:
    huge = {"v": ["x" * 100_000] * 100_000, "w": "y" * 10_000_000}
    began = time.perf_counter()
    text = Template.parse("{{ v|each('" + "{}" * 200 + "')|listed }}{{ " + " ~ ".join(["w"] * 800) + " }}").render(huge)
    assert len(text) <= LONGEST
    assert time.perf_counter() - began < 2


def test_a_filter_that_is_misspelt_is_named() -> None:
    with pytest.raises(TemplateFault, match="did you mean 'money'"):
        Template.parse("{{ price|mony }}")

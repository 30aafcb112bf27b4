"""What ships for Prometheus and Grafana: expressions are right, and every metric and label in them is exposed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY

from tenor.runtime.stages import STAGES
from tests.deploy.manifests import ROOT, containers, objects

FOLDER = ROOT / "deploy" / "monitoring"
RULES = [one for group in yaml.safe_load((FOLDER / "rules.yaml").read_text())["groups"] for one in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text())
ADAPTER = yaml.safe_load((FOLDER / "adapter.yaml").read_text())
WHERE = {"namespace", "pod", "container", "instance"}
"""Labels that Prometheus puts on everything it reads from a cluster."""
OWN = ("process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds")


def queries() -> dict[str, str]:
    """Every expression of the dashboard, by where it stands."""
    found = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in DASHBOARD["panels"]
        for target in panel.get("targets", ())
    }
    return found | {one["name"]: one["expr"] for one in DASHBOARD["annotations"]["list"]}


@pytest.fixture(scope="module")
def exposed() -> Mapping[str, set[str]]:
    """The labels of every series that a stage or the recogniser exposes."""
    for module in ("asr.local.metrics", *(path.partition(":")[0] for path in STAGES.values())):
        import_module(module)
    found: dict[str, set[str]] = {}
    for metric, names in REGISTRY._collector_to_names.items():
        labels = {*getattr(metric, "_labelnames", ())}
        for name in names:
            found[name] = labels | ({"le"} if name.endswith("_bucket") else set())
    return found


def promtool(*words: str | Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not here (Debian's package prometheus)")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_takes_the_rules_and_they_say_what_they_should(tmp_path: Path) -> None:
    promtool("check", "rules", FOLDER / "rules.yaml")
    config = yaml.safe_load((FOLDER / "scrape.yaml").read_text())
    del config["scrape_configs"][0]["kubernetes_sd_configs"]  # Debian's knows no Kubernetes
    (tmp_path / "scrape.yaml").write_text(yaml.safe_dump(config))
    promtool("check", "config", "--syntax-only", tmp_path / "scrape.yaml")
    promtool("test", "rules", ROOT / "tests" / "deploy" / "rules_test.yaml")


def test_promtool_takes_every_expression_of_the_dashboard(tmp_path: Path) -> None:
    rules = [
        {"record": f"panel:{number}", "expr": expr.replace("$__rate_interval", "5m").replace("$namespace", ".*")}
        for number, expr in enumerate(queries().values())
    ]
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    promtool("check", "rules", tmp_path / "rules.yaml")


def series(expression: str) -> Iterator[tuple[str, set[str]]]:
    """The names in an expression, each with the labels that it is chosen by. A pattern of names is each of them."""
    for name, chosen in re.findall(
        r"\b((?:tenor|process)_[a-z_]+)(?:\{([^}]*)\})?", re.sub(r'"tenor_\(.*?"', "", expression)
    ):
        yield name, set(re.findall(r"(\w+) *=~?", chosen)) - WHERE
    for begin, middle, end in re.findall(r'"(tenor_)\(([a-z|]+)\)([a-z_]+)"', expression):
        for part in middle.split("|"):
            yield f"{begin}{part}{end}", set()


@pytest.mark.parametrize("where", ["rules", "dashboard", "adapter", "autoscalers"])
def test_every_metric_exists_and_has_the_labels_that_it_is_asked_by(
    where: str, exposed: Mapping[str, set[str]]
) -> None:
    expressions = {
        "rules": [one["expr"] for one in RULES],
        "dashboard": list(queries().values()),
        "adapter": [one["seriesQuery"] for one in ADAPTER["rules"]["external"]],
        "autoscalers": [
            f"{metric['external']['metric']['name']}{{stage='x'}}"
            for one in objects("HorizontalPodAutoscaler")
            for metric in one["spec"]["metrics"]
            if metric["type"] == "External"
        ],
    }[where]
    for expression in expressions:
        found = list(series(expression))
        assert found or "ALERTS" in expression
        known = {label for name, _ in found for label in exposed.get(name, ())}
        for name, labels in found:
            assert name in exposed, expression
            assert labels <= exposed[name], expression
        for grouped in re.findall(r"\bby \(([^)]*)\)", expression):
            assert {label.strip() for label in grouped.split(",")} <= known, expression


def test_every_alert_says_what_to_do_and_no_more_than_it_knows(exposed: Mapping[str, set[str]]) -> None:
    assert len({one["alert"] for one in RULES}) == len(RULES)
    for one in RULES:
        assert one["annotations"].keys() == {"summary", "action"}, one["alert"]
        assert one["labels"]["severity"] in ("critical", "warning", "info")
        used = set(re.findall(r"\$labels\.(\w+)", str(one["annotations"])))
        assert used <= {label for name, _ in series(one["expr"]) for label in exposed[name]}


def test_the_dashboard_can_be_laid_out() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    variables = {f"${one['name']}" for one in DASHBOARD["templating"]["list"]} | {"$__rate_interval"}
    assert {word for expr in queries().values() for word in re.findall(r"\$\w+", expr)} <= variables


def test_prometheus_reads_the_ports_that_pods_have() -> None:
    ports = {port["name"] for one in containers() for port in one.spec.get("ports", ()) if "metrics" in port["name"]}
    monitor = yaml.safe_load((FOLDER / "operator.yaml").read_text())
    assert {one["port"] for one in monitor["spec"]["podMetricsEndpoints"]} == ports
    scraped = yaml.safe_load((FOLDER / "scrape.yaml").read_text())["scrape_configs"][0]["relabel_configs"][1]["regex"]
    assert {
        one["name"]
        for found in containers()
        for one in found.spec.get("ports", ())
        if re.fullmatch(scraped, one["name"])
    } == ports

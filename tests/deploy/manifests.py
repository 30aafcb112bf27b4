"""What deploy/kubernetes says, read as plain YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
SETTINGS = dict(line.split("=", 1) for line in (FOLDER / "settings.env").read_text().splitlines() if line)
Object = dict[str, Any]


class Container(NamedTuple):
    workload: str
    pod: Object
    spec: Object

    @property
    def name(self) -> str:
        return str(self.spec["name"])

    def environment(self, secrets: Mapping[str, str]) -> dict[str, str]:
        """Its variables, as a cluster with these secrets sets them."""
        found = dict(SETTINGS)
        for one in self.spec.get("env", ()):
            if "value" in one:
                found[one["name"]] = one["value"]
            elif (key := one["valueFrom"]["secretKeyRef"]["key"]) in secrets:
                found[one["name"]] = secrets[key]
        return found

    def probe(self, kind: str) -> tuple[str, int]:
        """The path and the port that it is asked at."""
        asked = self.spec[f"{kind}Probe"]["httpGet"]
        ports = {port["name"]: port["containerPort"] for port in self.spec["ports"]}
        return asked["path"], ports[asked["port"]]


def objects(kind: str = "") -> list[Object]:
    """Of all files that the kustomization names."""
    found = [one for name in KUSTOMIZATION["resources"] for one in yaml.safe_load_all((FOLDER / name).read_text())]
    return [one for one in found if kind in ("", one["kind"])]


def pods() -> Iterator[tuple[str, Object]]:
    for one in [*objects("Deployment"), *objects("Job")]:
        yield one["metadata"]["name"], one["spec"]["template"]["spec"]


def containers() -> list[Container]:
    return [Container(name, pod, spec) for name, pod in pods() for spec in pod["containers"]]

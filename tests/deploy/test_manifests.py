"""The Kubernetes base, the compose file and the Containerfile: they keep to the published schemas, and what they name
exists."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from storage.jobs import kubernetes
from tenor import __version__
from tenor.layers import load
from tenor.runtime.stages import STAGES
from tenor.settings import Settings
from tenor.stage import READS
from tests.deploy.manifests import FOLDER, KUSTOMIZATION, ROOT, SETTINGS, containers, objects, pods

PRODUCTION = (ROOT / "docs" / "production.md").read_text()
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
OURS = {name: one for name, one in COMPOSE["services"].items() if one["image"] == "tenor"}
PARTITIONS = int(SETTINGS["TENOR_BUS__PARTITIONS"])


def named(kind: str) -> dict[str, Any]:
    return {one["metadata"]["name"]: one for one in objects(kind)}


def stages(arguments: list[str]) -> list[str]:
    """Which stages a container runs; `tenor riva` and `tenor db` run none."""
    return arguments[1:] if arguments[0] == "serve" else [one for one in arguments if one == "dashboard"]


@pytest.mark.parametrize("version", ["1.30", "1.34"])
def test_every_object_keeps_to_the_published_schema(version: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for one in objects():
        validate.validate(one, version, strict=True)


def test_the_kustomization_names_every_file_and_no_other() -> None:
    named_files = {*KUSTOMIZATION["resources"], "kustomization.yaml"}
    named_files |= {file for made in KUSTOMIZATION["configMapGenerator"] for file in made["envs"]}
    assert {path.name for path in FOLDER.iterdir()} == named_files
    images = {one["name"]: one["newTag"] for one in KUSTOMIZATION["images"]}
    assert images == {"tenor": __version__}
    assert {one.spec["image"] for one in containers()} == {f"tenor:{__version__}"}


def built(folder: Path) -> list[dict[str, Any]]:
    """What kustomize makes of a folder."""
    program = shutil.which("kustomize") or shutil.which("kubectl")
    if program is None:
        pytest.skip("neither kustomize nor kubectl is here")
    command = [program, "build" if program.endswith("kustomize") else "kustomize", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def test_kustomize_builds_what_the_plain_files_say() -> None:
    found = [(one["kind"], one["metadata"]["name"]) for one in built(FOLDER)]
    made = [one for one in found if one[0] == "ConfigMap"]
    assert re.fullmatch("tenor-settings-[a-z0-9]+", made[0][1])
    plain = [(one["kind"], one["metadata"]["name"]) for one in objects()]
    assert sorted({*found} - {*made}) == sorted(plain)


def test_the_overlay_of_the_page_builds_on_the_base(tmp_path: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", PRODUCTION, re.DOTALL):
        text = textwrap.dedent(block)
        name = text.split()[1].rstrip(",")
        if name in ("kustomization.yaml", "ingress.yaml"):
            (tmp_path / name).write_text(text.replace("../tenor/deploy/kubernetes", "base"))
    shutil.copytree(FOLDER, tmp_path / "base")
    validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    made = {(one["kind"], one["metadata"]["name"]): one for one in built(tmp_path)}
    for one in made.values():
        validate.validate(one, "1.34", strict=True)
    assert made["PersistentVolumeClaim", "tenor"]["spec"]["storageClassName"] == "nfs"
    [settings] = [one["data"] for (kind, _), one in made.items() if kind == "ConfigMap"]
    assert settings["TENOR_GATEWAY__PUBLIC_URL"] == "wss://calls.example.com"
    assert settings["TENOR_SPEECH__ADDRESS"] == SETTINGS["TENOR_SPEECH__ADDRESS"]
    assert set(load(environment=settings).origins.values()) == {"default", *settings}
    services = {
        name: {port["name"] for port in one["spec"]["ports"]} for (kind, name), one in made.items() if kind == "Service"
    }
    for name in ("gateway", "dashboard"):
        [rule] = made["Ingress", name]["spec"]["rules"]
        [path] = rule["http"]["paths"]
        service = path["backend"]["service"]
        assert service["name"] == name
        assert service["port"]["name"] in services[name]


def test_every_setting_and_every_stage_exists() -> None:
    given = dict.fromkeys(_secret_keys(), "ignored") | {"storage-url": "postgresql://tenor@db/tenor"}
    given |= {"genesys-keys": "key=c2VjcmV0", "assistant-secrets": "shop=secret"}
    for one in containers():
        variables = one.environment(given)
        loaded = load(environment=variables)
        assert {name for name in variables if name not in loaded.origins.values()} == set(), one.name
        assert loaded.settings.bus_url == "kafka://kafka:9093"
    for service in OURS.values():
        variables = {name: str(value) for name, value in service["environment"].items()}
        assert set(variables) <= set(load(environment=variables).origins.values())


def test_each_stage_runs_in_one_kind_of_container() -> None:
    for arguments in ([one.spec["args"] for one in containers()], [one["command"] for one in OURS.values()]):
        assert sorted(stage for words in arguments for stage in stages(words)) == sorted(STAGES)
        assert ["riva"] in arguments
        assert ["db", "upgrade"] in arguments
    assert sorted(one.spec["args"] for one in containers()) == sorted(one["command"] for one in OURS.values())


def test_no_container_can_write_to_its_image_or_has_a_right_that_it_does_not_need() -> None:
    for _, pod in pods():
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False, "a service called tenor would set TENOR_PORT"
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert f"--uid {pod['securityContext']['runAsUser']} " in CONTAINERFILE
    for one in containers():
        secure = one.spec["securityContext"]
        assert secure["readOnlyRootFilesystem"] is True
        assert secure["allowPrivilegeEscalation"] is False
        assert secure["capabilities"] == {"drop": ["ALL"]}
        assert one.spec["resources"]["limits"].keys() == one.spec["resources"]["requests"].keys() == {"cpu", "memory"}
    assert all(one["read_only"] and one["cap_drop"] == ["ALL"] for one in OURS.values())


def test_what_is_mounted_is_there() -> None:
    claims = named("PersistentVolumeClaim")
    for one in containers():
        volumes = {volume["name"]: volume for volume in one.pod["volumes"]}
        assert {mount["name"] for mount in one.spec["volumeMounts"]} <= volumes.keys()
        for volume in volumes.values():
            if "persistentVolumeClaim" in volume:
                assert volume["persistentVolumeClaim"]["claimName"] in claims
            if "secret" in volume:
                assert f"create secret generic {volume['secret']['secretName']}" in PRODUCTION
        mounted = [mount["mountPath"] for mount in one.spec["volumeMounts"]]
        within = [path for path in mounted if any(path.startswith(f"{other}/") for other in mounted)]
        assert within == [], "a cluster makes the folder on the other volume as root"
        files = [value for value in one.environment({}).values() if value.startswith("/certificates")]
        assert "/certificates" in mounted or stages(one.spec["args"]) == [], files
    used = {mount["name"] for one in containers() for mount in one.spec["volumeMounts"]}
    assert used == {volume["name"] for _, pod in pods() for volume in pod["volumes"]}


def test_jobs_of_the_queue_find_the_same_volume_and_secret() -> None:
    assert kubernetes.SHARED in {mount["mountPath"] for one in containers() for mount in one.spec["volumeMounts"]}
    assert load().settings.jobs.volume in named("PersistentVolumeClaim")
    assert SETTINGS["TENOR_LEARN__URL"] == f"{kubernetes.SHARED}/learn"
    assert "storage-url" in _secret_keys()


def test_every_secret_is_in_the_command_that_makes_it() -> None:
    keys = _secret_keys()
    for key in keys:
        assert f"--from-literal={key}=" in PRODUCTION, key
    assert set(re.findall(r"--from-literal=([\w-]+)=", PRODUCTION)) == keys


def test_every_password_and_key_has_its_secret() -> None:
    given = {
        variable["name"] for one in containers() for variable in one.spec.get("env", ()) if "valueFrom" in variable
    }
    wanted = {
        f"TENOR_{section}__{name}".upper()
        for section, fields in Settings.model_fields.items()
        for name, field in getattr(fields.annotation, "model_fields", {}).items()
        if "SecretStr" in str(field.annotation)
    }
    assert len(wanted) > 10
    not_here = {"TENOR_RIVA__API_KEY"}  # the network policy says who reaches the recogniser
    assert wanted - not_here <= given
    assert given - wanted == {"TENOR_STORAGE__URL"}


def _secret_keys() -> set[str]:
    variables = [variable for one in containers() for variable in one.spec.get("env", ())]
    found = [variable["valueFrom"]["secretKeyRef"] for variable in variables if "valueFrom" in variable]
    assert {one["name"] for one in found} == {"tenor"}
    return {one["key"] for one in found}


def test_services_budgets_and_policies_select_pods() -> None:
    labels = {name: one["spec"]["template"]["metadata"]["labels"] for name, one in named("Deployment").items()}
    for name, one in named("Deployment").items():
        assert one["spec"]["selector"]["matchLabels"] == labels[name]
    for one in objects("Service"):
        [selected] = [name for name, label in labels.items() if label == one["spec"]["selector"]]
        ports = {port["name"] for found in containers() if found.workload == selected for port in found.spec["ports"]}
        assert {port["targetPort"] for port in one["spec"]["ports"]} <= ports
    budgets = [one["spec"]["selector"]["matchLabels"] for one in objects("PodDisruptionBudget")]
    assert sorted(map(str, budgets)) == sorted(str(label) for name, label in labels.items() if name != "housekeeping")
    open_ports = {port["containerPort"] for one in containers() for port in one.spec.get("ports", ())}
    for one in objects("NetworkPolicy"):
        wanted = one["spec"]["podSelector"]["matchLabels"]
        assert any(wanted.items() <= label.items() for label in labels.values())
        for rule in one["spec"].get("ingress", ()):
            assert {port["port"] for port in rule["ports"]} <= open_ports
    hosts = re.findall(r"TENOR_SPEECH__ADDRESS=(\w+):(\d+)", (FOLDER / "settings.env").read_text())
    assert hosts == [("riva", "50051")]
    assert "riva" in named("Service")


def test_probes_ask_what_the_process_answers() -> None:
    for one in containers():
        if one.workload == "migrate":
            assert "livenessProbe" not in one.spec
            continue
        port = int(one.environment({})["TENOR_TELEMETRY__METRICS_PORT"])
        assert one.probe("readiness") == ("/health/ready", port)
        assert one.probe("liveness") == ("/health/live", port)
    of_pod = [
        [port["containerPort"] for found in pod["containers"] for port in found.get("ports", ())] for _, pod in pods()
    ]
    assert all(len(ports) == len(set(ports)) for ports in of_pod), "containers of a pod share their ports"


def test_autoscalers_follow_stages_that_report_what_waits() -> None:
    deployments = named("Deployment")
    for name, one in named("HorizontalPodAutoscaler").items():
        spec = one["spec"]
        target = spec["scaleTargetRef"]["name"]
        assert target == name
        assert "replicas" not in deployments[target]["spec"], "applying it would undo what was scaled"
        runs = [stage for found in containers() if found.workload == target for stage in stages(found.spec["args"])]
        followed = [
            metric["external"]["metric"]["selector"]["matchLabels"]["stage"]
            for metric in spec["metrics"]
            if metric["type"] == "External"
        ]
        assert set(followed) <= {*runs} & READS.keys()
        assert spec["maxReplicas"] <= PARTITIONS, "further workers would have no partition"
        assert spec["minReplicas"] >= 2
    assert {stage for stage in READS if stage not in ("webhooks", "summaries")} == {
        metric["external"]["metric"]["selector"]["matchLabels"]["stage"]
        for one in objects("HorizontalPodAutoscaler")
        for metric in one["spec"]["metrics"]
        if metric["type"] == "External"
    }


def test_what_others_are_sent_to_stops_only_when_they_are_sent_elsewhere() -> None:
    served = {
        one["spec"]["selector"]["app.kubernetes.io/component"]: one["spec"]["ports"] for one in objects("Service")
    }
    for workload, ports in served.items():
        for one in containers():
            own = {port["name"] for port in one.spec.get("ports", ())}
            if one.workload == workload and own & {port["targetPort"] for port in ports}:
                assert one.spec["lifecycle"]["preStop"]["sleep"]["seconds"] >= 5, one.name


def test_the_gateway_has_as_long_to_drain_as_it_wants() -> None:
    [gateway] = [one for one in containers() if one.name == "gateway"]
    assert gateway.pod["terminationGracePeriodSeconds"] > float(gateway.environment({})["TENOR_GATEWAY__DRAIN_S"])
    service = OURS["gateway"]
    assert int(service["stop_grace_period"].removesuffix("s")) > service["environment"]["TENOR_GATEWAY__DRAIN_S"]


def test_the_image_says_what_the_manifests_say() -> None:
    exposed = re.findall(r"\d+", next(line for line in CONTAINERFILE.splitlines() if line.startswith("EXPOSE")))
    used = {port["containerPort"] for one in containers() for port in one.spec.get("ports", ())}
    assert {int(port) for port in exposed} == used - {9465}, "the second port of a pod with two containers"
    variables = dict(re.findall(r"(TENOR_\w+)=(\S+)", CONTAINERFILE))
    assert variables.items() <= SETTINGS.items()
    assert "USER 10001:10001" in CONTAINERFILE
    assert f"127.0.0.1:{SETTINGS['TENOR_TELEMETRY__METRICS_PORT']}/health/live" in CONTAINERFILE
    extras = re.findall(r"ARG EXTRAS=(\S+)", CONTAINERFILE)[0].split(",")
    declared = (ROOT / "pyproject.toml").read_text()
    assert all(f"\n{extra} = [" in declared for extra in extras)

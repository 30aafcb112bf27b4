"""What `tenor config` and errors show of settings that hold secrets."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from tenor.secret_values import STARS, shown


@pytest.mark.parametrize(
    ("name", "value", "seen"),
    [
        ("storage.url", "postgresql://tenor:s3cr3t@db/tenor", f"postgresql://tenor:{STARS}@db/tenor"),
        ("storage.url", "postgresql://tenor:a/s3cr3t@x@db/tenor", f"postgresql://tenor:{STARS}@db/tenor"),
        ("storage.url", "postgresql://db/tenor?user=me&password=s3cr3t", f"postgresql://db/tenor?user={STARS}&password={STARS}"),
        ("learn.url", "s3://s3cr3t@bucket/x", f"s3://{STARS}@bucket/x"),
        ("telemetry.otlp_endpoint", "https://collector/v1?api-key=s3cr3t", f"https://collector/v1?api-key={STARS}"),
        ("language.webhooks", {"chat": "https://hooks.example/T0/s3cr3t"}, {"chat": f"https://hooks.example/{STARS}"}),
        ("speech.metadata", {"x-gate": "s3cr3t"}, {"x-gate": STARS}),
        ("assistant.secrets", {"shop": SecretStr("s3cr3t")}, {"shop": STARS}),
        ("jobs.programs", ["https://me:s3cr3t@host/x"], [f"https://me:{STARS}@host/x"]),
    ],
)  # fmt: skip
def test_no_secret_is_shown(name: str, value: Any, seen: Any) -> None:
    assert shown(name, value) == seen
    assert "s3cr3t" not in str(seen)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bus.url", "kafka://localhost:9092"),
        ("storage.url", "sqlite:////data/tenor.db"),
        ("speech.address", "localhost:50051"),
        ("ingest.roles", ["agent", "caller"]),
        ("dashboard.oidc_roles", {"supervisors": "manager"}),
        ("bus.partitions", 12),
    ],
)
def test_what_is_no_secret_stays(name: str, value: Any) -> None:
    assert shown(name, value) == value

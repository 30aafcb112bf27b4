"""MLflow's REST API, as far as a mirror of runs needs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from tenor.errors import BadInput, Unavailable

MOST_METRICS, MOST_PARAMETERS, MOST_TAGS = 1000, 100, 100
"""What one request may carry. All three together may not be more than the first."""
_MOST_CHARACTERS = 500
"""Of a value; newer servers take more."""
_TIMEOUT = httpx.Timeout(30.0, connect=5.0)
"""A server that is there may be slow, above all about its first request."""
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class MlflowMetric:
    key: str
    value: float
    timestamp: int
    """Milliseconds."""
    step: int


@dataclass(frozen=True, slots=True)
class MlflowRun:
    id: str
    tags: Mapping[str, str]


class MlflowClient:
    """Unavailable while the server is away; BadInput when it does not want what it is sent."""

    def __init__(self, url: str, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            self._http = httpx.Client(base_url=f"{url.rstrip('/')}/api/2.0/mlflow", headers=headers, timeout=_TIMEOUT)
        except httpx.InvalidURL as error:
            raise BadInput(f"learn.mlflow is no address: {error}", "e.g. http://localhost:5000") from None
        self._address = str(self._http.base_url.copy_with(userinfo=b"")).removesuffix("/api/2.0/mlflow/")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.close()

    def experiment(self, name: str) -> str:
        """Its id; it is made if there is none of this name."""
        by_name = {"experiment_name": name}
        found = self._ask("GET", "experiments/get-by-name", params=by_name, absent_ok=True)
        if found is None:
            try:
                return str(self._post("experiments/create", name=name)["experiment_id"])
            except BadInput:  # another process was quicker
                found = self._ask("GET", "experiments/get-by-name", params=by_name)
        assert found is not None
        return str(found["experiment"]["experiment_id"])

    def runs(self, experiment: str) -> Iterator[MlflowRun]:
        """Everything of an experiment, newest first."""
        page: dict[str, Any] = {}
        while True:
            found = self._post("runs/search", experiment_ids=[experiment], max_results=_PAGE, **page)
            for run in found.get("runs", ()):
                tags = {one["key"]: one["value"] for one in run.get("data", {}).get("tags", ())}
                yield MlflowRun(run["info"]["run_id"], tags)
            if not (token := found.get("next_page_token")):
                return
            page = {"page_token": token}

    def create_run(self, experiment: str, name: str, start_ms: int, tags: Mapping[str, str]) -> str:
        made = self._post(
            "runs/create", experiment_id=experiment, run_name=name, start_time=start_ms, tags=_pairs(tags)
        )
        return str(made["run"]["info"]["run_id"])

    def log_parameters(self, run: str, values: Mapping[str, str]) -> None:
        for part in _parts(_pairs(values), MOST_PARAMETERS):
            self._post("runs/log-batch", run_id=run, params=part)

    def log_tags(self, run: str, values: Mapping[str, str]) -> None:
        for part in _parts(_pairs(values), MOST_TAGS):
            self._post("runs/log-batch", run_id=run, tags=part)

    def log_metrics(self, run: str, metrics: Sequence[MlflowMetric], tags: Mapping[str, str]) -> None:
        """One request: at most `MOST_METRICS` less the number of tags."""
        rows = [{"key": one.key, "value": one.value, "timestamp": one.timestamp, "step": one.step} for one in metrics]
        self._post("runs/log-batch", run_id=run, metrics=rows, tags=_pairs(tags))

    def set_status(self, run: str, status: str, end_ms: int | None) -> None:
        over = {} if end_ms is None else {"end_time": end_ms}
        self._post("runs/update", run_id=run, status=status, **over)

    def _post(self, path: str, **body: Any) -> Any:
        return self._ask("POST", path, json=body)

    def _ask(self, method: str, path: str, *, absent_ok: bool = False, **request: Any) -> Any:
        try:
            answer = self._http.request(method, path, **request)
            if answer.status_code == httpx.codes.NOT_FOUND and absent_ok and _error_code(answer):
                return None
            if answer.is_server_error or answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
                raise Unavailable(f"MLflow at {self._address} answers {answer.status_code}", "see its log")
            if not answer.is_success:
                reason = _error_code(answer) or answer.reason_phrase
                raise BadInput(f"MLflow at {self._address} refuses {path}: {answer.status_code} {reason}")
            return answer.json()
        except (httpx.HTTPError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise Unavailable(f"MLflow at {self._address} does not answer: {reason}", "see learn.mlflow") from None


def _error_code(answer: httpx.Response) -> str:
    """MLflow's own word for what is wrong; empty where something else answers."""
    try:
        document = answer.json()
    except ValueError:
        return ""
    return str(document.get("error_code", "")) if isinstance(document, dict) else ""


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value[:_MOST_CHARACTERS]} for key, value in values.items()]


def _parts(rows: Sequence[dict[str, str]], size: int) -> Iterator[Sequence[dict[str, str]]]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]

"""What those who load models count. Exposed by whoever serves the default Prometheus registry."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

LOADED = Gauge("tenor_models_loaded", "Models in memory", ["kind", "model"])
IN_FORCE = Gauge("tenor_models_in_force", "1 for the model that calls beginning now get", ["kind", "model"])
FAILURES = Counter("tenor_models_load_failures", "Promoted models that could not be loaded", ["kind"])

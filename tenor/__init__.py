"""What all packages share, and what puts them together.

events, settings, errors  <-- every package          bus/ (embedded or Kafka)  <-- every stage
redaction/, taxonomy/, model_store/ (which model a call has)  <-- the stages and storage
runtime/ (stages put together), learn/ (the learning loop)  -->  every package
cli/ (the commands)  -->  runtime/, learn/
"""

import os

# ONNX Runtime tells its makers about every session unless this is set before it is imported: nothing of a call
# centre's leaves it unasked.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

__version__ = "0.2.0"
__all__ = ["__version__"]

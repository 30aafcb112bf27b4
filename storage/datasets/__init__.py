"""Datasets: which sentences a model learns from, with what labels, in which split. They hold ids, not words.

datasets/NAME/N.json    a version: where it comes from, its hash, which parts of the archive hold its words
a blob with its rows    id, call, group, split, labels, weight

with open_dataset(settings, "house@3") as dataset:
    for row in dataset.rows("train"): ...
"""

from storage.datasets.manifest import DatasetVersion, find, listing
from storage.datasets.opening import DatasetRow, OpenDataset, open_dataset

__all__ = ["DatasetRow", "DatasetVersion", "OpenDataset", "find", "listing", "open_dataset"]

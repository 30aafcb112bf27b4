"""Tenor from Python: recordings and texts to results, and stages put together into pipelines, without a terminal.

                    analyze, transcribe                      serve, pipeline
                            |                                       |
    paths --> batch/: a temporary pipeline, results in order   the bus of the settings
                            |                                       |
                            +---- stages by name, on a bus ---------+
                                  recogniser: our own, or the one of the settings

What the command line does it does with this package, which neither prints nor asks. docs/python.md is the guide.
"""

from tenor.runtime.analysis import analyze, analyze_async, transcribe, transcribe_async
from tenor.runtime.batch.call_result import CallResult, analysis_document, transcript_document
from tenor.runtime.batch.inputs import MissingInput, find_inputs, recording_options
from tenor.runtime.batch.progress import BatchProgress, CallProgress
from tenor.runtime.compose import pipeline, serve, temporary_pipeline
from tenor.runtime.profiles import batch_settings, load_settings
from tenor.runtime.riva import recognizer
from tenor.runtime.running import running
from tenor.runtime.stages import STAGES

__all__ = [
    "STAGES",
    "BatchProgress",
    "CallProgress",
    "CallResult",
    "MissingInput",
    "analysis_document",
    "analyze",
    "analyze_async",
    "batch_settings",
    "find_inputs",
    "load_settings",
    "pipeline",
    "recognizer",
    "recording_options",
    "running",
    "serve",
    "temporary_pipeline",
    "transcribe",
    "transcribe_async",
    "transcript_document",
]

"""The learning loop from Python: train on a dataset, judge what came of it, put it in force.

    dataset --finetune--> run --> candidate in the registry --judge_model--> verdict --promote--> workers load it

`learn` does all of it, from the archive on. What the command line does it does with this package, which neither prints
nor asks. docs/learning.md is the guide.
"""

from tenor.learn.grid import GridResult, finetune_grid
from tenor.learn.judging import judge_model
from tenor.learn.loop import LearnResult, learn
from tenor.learn.pairs import judge_together
from tenor.learn.steps import StepReport
from tenor.learn.training import TrainedModel, finetune

__all__ = [
    "GridResult",
    "LearnResult",
    "StepReport",
    "TrainedModel",
    "finetune",
    "finetune_grid",
    "judge_model",
    "judge_together",
    "learn",
]

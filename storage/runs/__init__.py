"""Training runs: parameters, curves, resources, code and outcome of each, written down unasked.

recipe --point--> record.py --in batches--> tables --> runs.py --> pages, `tenor runs`
                                                   --> mlflow_mirror.py --> an MLflow server, if one is set
"""

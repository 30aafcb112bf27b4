"""Training runs: parameters, curves, resources, code and outcome of each, written down unasked.

recipe --point--> record.py --in batches--> tables --> queries.py --> pages, `tenor runs`
"""

"""Drift: whether what is said, or what it means, is still what the model learned.

    calls, labels --> measuring.py --> drift_sums --> detection.py --> drift_tests --> queries.py --> pages, commands
                      sums of days                    tests, alarms

`bring_up_to_date()` of watching.py does all of it, once a day (worker.py) or when somebody asks. No model runs here,
and nothing here holds words.
"""

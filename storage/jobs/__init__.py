"""Training jobs of teams with quotas: submitted, started, paused and resumed on a machine's shares.

`tenor jobs submit` --> queue.py --> tables <-- runner.py --asks--> scheduler.py (a pure function)
                                               runner.py --starts, signals--> process.py --> `tenor finetune`
"""

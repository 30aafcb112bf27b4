"""How a deployed model learns from labels: one file per recipe, each with its parameters, presets and `run`.

base           what every recipe has: rows, parameters, presets, the record of a run, how a run is stopped
head           sentence heads of a language model, without torch, in minutes
layers         upper layers and heads of a language model
intent_slot    intents and slots of the assistant, jointly
whisper        the recogniser that ships
nemo           CTC models of NVIDIA NeMo
"""

"""The language stage: transcripts in; sentences with sentiment, intent and values, conversation metrics and alerts out.

    topic transcripts: Transcript          topic calls: a call is live, a call has ended
             |                                      |
             '-------->  partition.py  <-----------'    the calls of a partition, and how far it may be committed
                              |
                              |  PendingEvent            a transcript, with its call
                              v
    call.draft()    sentences.py, segmenter.py           utterances cut into sentences, and joined
                              |
                              |  Draft                   the words of a sentence, its id, its times
                              v
    batch.py             inference/                      sentences of all calls, in one pass of the encoder
                              |
                              |  SentenceAnalysis        sentiment, intent, slots, labels
                              v
    call.hear()    conversation/, rules/                 metrics and task of the call, alerts
                              |
                              |  StageOutput             Sentence, CallMetrics, Alert, CallState
                              v
    worker.py    topics sentences, calls, dead           published, then committed

call.py holds the analysis of one call and ties these together. riva_service.py offers the models under Riva's API.
webhooks/ is a stage of its own, which sends alerts and summaries to others, written_summary/ one that has a language
model write them. evaluation/ measures; it is no part of the stage.
"""

from nlp.inference.backend import open_backend, open_local
from nlp.inference.types import Backend, Entity, LanguageModels, SentenceAnalysis

__all__ = ["Backend", "Entity", "LanguageModels", "SentenceAnalysis", "open_backend", "open_local"]

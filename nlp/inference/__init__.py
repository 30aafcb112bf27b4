"""What models say about a sentence. Nothing here knows of calls, partitions or the bus.

texts -> analyzer: backend  (local: language_id -> mask_filling -> models/ -> heads/, or a server: riva)
                   plugins  (further classifiers that the settings name)
      -> types.SentenceAnalysis

assistant/ has the model of the assistant: intent and slots of a shopper's line.
name_finder reads the lower layers of the shared encoder: names and places that redaction takes out.
"""

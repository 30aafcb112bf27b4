"""Speech to text: recognizer.py holds the engines, stream.py is one stream through all of this:

    samples -> resampler -> vad -> endpointer -> decode_pool (engines/) -> text/ -> results (types.py)

interim.py decodes while somebody speaks, window.py several utterances at once for those who can wait.
"""

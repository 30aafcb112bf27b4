"""The speech recognition engines. base.py says what an engine must be able to do; another one is one more file here."""

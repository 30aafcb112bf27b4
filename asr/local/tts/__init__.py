"""Text to speech: ssml.py cuts the text into sentences, voices.py speaks them, synthesizer.py serves requests."""

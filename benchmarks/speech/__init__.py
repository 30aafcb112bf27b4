"""Recognition of speech, and the decoding of what it comes in."""

"""Who of several people speaks, by the sound of their voices (diarization)."""

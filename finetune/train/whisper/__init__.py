"""Fine-tuning of the recogniser: Whisper in CTranslate2's format, read, trained and written back."""

"""What must not stay: erasing calls and customers, retention, and finding and masking personal data."""

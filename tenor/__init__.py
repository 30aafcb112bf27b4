"""The spine: events, bus, settings, telemetry, redaction and the command line. Stages meet here."""

__version__ = "0.2.0"

"""The stage that sends alerts to other systems: alert -> request (JSON, signed) -> the webhook's queue -> delivered."""

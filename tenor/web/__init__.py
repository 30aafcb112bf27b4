"""What every web server of Tenor has: a socket of its own, limits to what a connection may cost, and signed values."""

"""Other people's Riva clients, each in a virtual environment of its own, against our server."""

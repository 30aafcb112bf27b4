"""The client of a recogniser that speaks Riva's gRPC API: NVIDIA's, or `tenor riva`. client.py knows the server and
opens streams, stream.py is one of them, errors.py says what went wrong and whether to try again."""

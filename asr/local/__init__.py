"""`tenor riva`: a speech server on the CPU that speaks Riva's gRPC and realtime APIs.

    client  ->  api/     gRPC and WebSocket: what is asked, who may, how many at once
                  |
                codecs/  WAV, FLAC, Opus, G.711 to samples, and speech output back to bytes
                  |
                stt/     speech to text: voice activity detection, endpointing, engines, text formatting
                tts/     text to speech: SSML, voices

server.py puts them together, options.py says how, errors.py is what a request is refused with.
"""

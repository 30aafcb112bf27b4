"""Recordings and microphones onto the audio topic.

source --> decoder (PyAV, else ffmpeg) --> recording: channels given to speakers, blocks --> publisher --> bus
"""

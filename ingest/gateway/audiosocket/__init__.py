"""Asterisk AudioSocket: one voice per TCP connection.

`session` turns its frames into audio, `registrations` know which call a connection belongs to, `peers` who may connect.
"""

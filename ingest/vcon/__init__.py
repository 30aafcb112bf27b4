"""vCons of other programs as calls: who spoke, the recording or the messages, and the transcript if it is known."""

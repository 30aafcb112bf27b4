"""Audio sources: files, microphones and telephony platforms, made into chunks on the bus."""

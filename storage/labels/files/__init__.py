"""Labels as files: what others wrote is brought in, and what people said here is written down for others."""

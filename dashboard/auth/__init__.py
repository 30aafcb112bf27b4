"""Who is looking: accounts, sign-in, signed tokens, and the middleware that every request passes."""

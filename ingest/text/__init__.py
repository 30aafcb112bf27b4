"""Written conversations: chat logs and e-mails, made into calls on the bus."""

"""What the pages' scripts ask for: the live feed, snapshots, recordings, next steps, and what people do."""

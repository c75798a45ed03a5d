"""Programs that the tool API starts: found, started in groups of their own, bounded, and ended as a whole."""

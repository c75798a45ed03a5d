"""Remote hosts over SSH."""

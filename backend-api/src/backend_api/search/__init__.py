"""Full-text search of a user's own messages and titles."""

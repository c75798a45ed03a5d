"""Words of own messages and titles, found again."""

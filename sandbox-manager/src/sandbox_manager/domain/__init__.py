"""The domain of sandboxes; standard library only."""

"""REST as `contracts.sandboxes` fixes it."""

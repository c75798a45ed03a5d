"""Being watched over: managers say that they are there, hear how the sandbox is, and are missed when they are gone."""

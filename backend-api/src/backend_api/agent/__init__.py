"""The agent: its loop, its conversation with a model, its capabilities and tools."""

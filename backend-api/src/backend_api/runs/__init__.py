"""Runs of the agent: the queue, the workers and the journal of each run."""

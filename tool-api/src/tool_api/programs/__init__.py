"""Starts programs in process groups of their own, bounds them, and ends them with all they started."""

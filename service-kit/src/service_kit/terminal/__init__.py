"""A program's output as a terminal shows it."""

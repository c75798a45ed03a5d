"""What starts a kernel of Python: a folder without our other modules, as Python looks for its own there first."""

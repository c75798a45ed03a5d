"""The launcher of Python kernels, in a folder without our other modules, as Python looks for its own there first."""

"""Navigation in source code."""

"""Screen, mouse, keyboard and windows of the desktop, for models that use a computer."""

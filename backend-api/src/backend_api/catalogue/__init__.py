"""Tools, models and presets that can be chosen."""

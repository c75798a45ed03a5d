"""Tools, models and presets on offer."""

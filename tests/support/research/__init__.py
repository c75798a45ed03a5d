"""Doubles of what the module of papers stands on."""

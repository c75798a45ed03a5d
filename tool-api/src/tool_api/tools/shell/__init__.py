"""Persistent named shells."""

"""Fakes that live in this process."""

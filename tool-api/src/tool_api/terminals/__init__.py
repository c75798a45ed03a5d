"""Terminals of people: shells on pseudo-terminals, each with any number of viewers."""

"""Puts the gateway and its workers together and runs them."""

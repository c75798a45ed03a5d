"""Adapters: registry stores, runtimes, keys."""

"""Branches of conversations: edited messages, regenerated answers, and the former versions of both."""

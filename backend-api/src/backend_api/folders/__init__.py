"""Folders of conversations, with instructions for the work in them."""

"""Computers that users chose instead of the usual sandbox: remote hosts over SSH, other images and sizes."""

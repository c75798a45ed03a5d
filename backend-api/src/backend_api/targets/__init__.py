"""Computers that users chose beside the usual sandbox: remote hosts over SSH, other images and sizes."""

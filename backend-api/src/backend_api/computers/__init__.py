"""A user's access to a session's sandbox: its files, snapshots and screen."""

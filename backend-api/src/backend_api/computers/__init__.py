"""What a person sees and does of a session's sandbox: its files, snapshots and screen."""

"""Files of a workspace that their user edits, moves and deletes."""

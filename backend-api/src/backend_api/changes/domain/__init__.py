"""What turns changed in files."""

"""What a sandbox is and what its keeping needs; standard library only."""

"""What the rules in `scripts/checks` share."""

"""What a terminal shows of what a program wrote."""

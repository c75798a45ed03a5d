"""What the agent changed in a conversation's files since its user last looked."""

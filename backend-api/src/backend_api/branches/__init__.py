"""Other ways a conversation could go on: messages edited, answers made again, and what was said before either."""

"""What a person is writing to a conversation, kept until it is sent."""

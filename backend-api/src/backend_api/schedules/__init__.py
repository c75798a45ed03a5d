"""Messages that are sent by themselves, once or again and again."""

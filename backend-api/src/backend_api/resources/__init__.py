"""Resources that agent and person keep with a conversation, and its tasks as the person changes them."""
